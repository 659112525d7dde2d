"""Made-up tables as stewards bring them: abbreviated names, dummies, batteries, weights, persons that repeat."""

from __future__ import annotations

from suggested import (
    BANDS,
    CODE,
    CONSTANT,
    DATE,
    GONE,
    ID,
    JOINED,
    LAST,
    NUMBER,
    POINT,
    READY,
    SECRET,
    TEXT,
    TOWNS,
    UNKNOWN,
    VALUE,
    Column,
    Made,
    Of,
    Truth,
    count,
    day,
    decimal,
    email,
    french,
    health_insurance,
    made,
    moment,
    one_of,
    person,
    repeated,
    row,
    sentence,
    shaped,
    whole,
)

COARSE_OR_NOT = (
    "SD",
    "",
)  # nearly unique; numbers with separators of thousands cannot be coarsened yet


def station() -> Made:
    """A German hospital with abbreviated names; a name is that of several patients, and the number tells them apart."""
    return made(
        {
            "Pat-Nr.": (repeated(70000, 700), ID),
            "Fall-Nr.": (row(90000000), ID),
            "Patient": (Of("Pat-Nr.", person("{last}, {first}")), ID),
            "geb. am": (Of("Pat-Nr.", day("%d.%m.%Y")), DATE),
            "Geschl.": (Of("Pat-Nr.", one_of("männlich", "weiblich", "divers", weights=[9, 9, 1])), VALUE),
            "Ort": (lambda c, _: c.choice(TOWNS), VALUE),
            "Anschrift": (lambda c, _: f"{c.choice(LAST)}weg {c.randrange(1, 80)}", ID),
            "Vers.-Nr.": (Of("Pat-Nr.", health_insurance), ID),
            "Kasse": (one_of("AOK", "TK", "privat", "IKK"), VALUE),
            "Aufn.": (day("%d.%m.%Y", 2023, 2023), DATE),
            "Station": (one_of("Neuro", "Chirurgie", "Innere 1", "Innere 2"), VALUE),
            "Beh. Arzt": (lambda c, _: f"Dr. {c.choice(LAST)}", ID),
            "HD (ICD-10)": (one_of("I10.90", "E11.90", "J44.19", "I50.13"), SECRET),
            "BMI": (decimal(26, 4, ","), SECRET),
            "Kosten (€)": (lambda c, _: f"{c.randint(1, 9)}.{c.randint(100, 999)},{c.randint(10, 99)}", COARSE_OR_NOT),
            "Raucher": (one_of("ja", "nein", "unbek."), SECRET),
            "Notiz": (sentence, TEXT),
        },
        delimiter=";",
        encoding="cp1252",
        seed=31,
    )  # fmt: skip


def school() -> Made:
    """Pupils of a British school: parents' addresses repeat among strangers, and nobody has two records."""
    return made(
        {
            "UPN": (shaped("A999999999999"), ID),
            "Forename": (person("{first}"), ID),
            "DOB": (day("%d/%m/%Y", 2008, 2012), DATE),
            "NC Year": (one_of("Year 7", "Year 8", "Year 9", "Year 10"), VALUE),
            "Reg Group": (one_of("7A", "7B", "8A", "8B", "9A", "10C"), VALUE),
            "Gender": (one_of("F", "M"), VALUE),
            "SEN Status": (one_of("N", "K", "E"), SECRET),
            "FSM": (one_of("Y", "N"), SECRET),
            "First Language": (one_of("ENG", "POL", "BEN"), VALUE),
            "Postcode": (shaped("LS99 9AA"), READY),
            "Attendance": (lambda c, _: f"{c.randint(800, 1000) / 10}%", SECRET),
            "Exclusions": (count(3), SECRET),
            "KS2 Maths": (whole(1, 9), SECRET),
            "Parent Email": (lambda c, _: email(c, c.randrange(40)), ID),
        },
        records=870,
        seed=32,
    )


def log() -> Made:
    """Visits of devices to places; the device is the person."""
    return made(
        {
            "device": (lambda c, _: f"{c.randrange(200) * 7919 + 1:016x}", ID),
            "ts": (moment("%Y-%m-%d %H:%M:%S"), DATE),
            "lat": (decimal(52.5, 0.05, digits=5), POINT),
            "lon": (decimal(13.4, 0.05, digits=5), JOINED),
            "poi_category": (one_of("gym", "church", "HIV clinic", "bar"), SECRET),
            "dwell_min": (whole(1, 180), ("SQ", "interval")),
            "yob": (Of("device", whole(1945, 2006)), NUMBER),
            "sex": (Of("device", one_of("M", "F")), VALUE),
        },
        records=1500,
        seed=33,
        points={"lat": "place"},
    )


def benefits() -> Made:
    """A French office for benefits."""
    return made(
        {
            "N° Sécu": (french, ID),
            "N° allocataire": (row(), ID),
            "Nom complet": (person("{first} {last}"), ID),
            "Né(e) le": (day("%d/%m/%Y"), DATE),
            "Situation familiale": (one_of("Veuf(ve)", "Divorcé(e)", "Célibataire"), VALUE),
            "Code postal": (one_of("69001", "04000", "13002"), CODE),
            "Nb enfants à charge": (whole(0, 5), NUMBER),
            "CSP": (one_of("Sans emploi", "Cadre", "Ouvrier"), VALUE),
            "Montant mensuel": (decimal(600, 150, ",", 2), SECRET),
            "Prestation": (one_of("PAJE", "RSA", "APL", "aucune"), SECRET),
            "Handicap": (one_of("oui", "non"), SECRET),
            "pondération": (decimal(1, 0.3, ",", 4), GONE),
        },
        delimiter="\t",
        encoding="cp1252",
        seed=34,
    )


def trial() -> Made:
    """A trial with batteries of laboratory values and adverse events."""
    columns: dict[str, tuple[Column | Of, Truth]] = {
        "PtID": (lambda _, r: f"NCT-{r:05d}", ID),
        "SiteID": (whole(1, 24), VALUE),
        "AgeAsOfEnrollDt": (whole(18, 90), NUMBER),
        "RaceEth": (one_of("White", "Black", "Hispanic"), VALUE),
        "EduLevel": (whole(1, 11), VALUE),
        "InsPriv": (one_of(0, 1), VALUE),
        "Weight": (decimal(72, 12), NUMBER),
        "RandDt": (day("%Y-%m-%d", 2022, 2023), DATE),
    }
    columns |= {f"Lab{n:02d}": (decimal(100, 10, digits=2), SECRET) for n in range(1, 9)}
    columns |= {f"AE{n:02d}": (one_of(0, 1, weights=[19, 1]), SECRET) for n in range(1, 11)}
    columns |= {f"zx{n}": (whole(0, 4), UNKNOWN) for n in range(1, 6)}
    return made(columns, seed=35)


def affairs() -> Made:
    """A table of a textbook: dummies and joined names in lower case."""
    return made(
        {
            "id": (row(), ID),
            "male": (one_of(0, 1), VALUE),
            "age": (whole(18, 60), NUMBER),
            "yrsmarr": (whole(0, 20), ("Q", "")),
            "kids": (one_of(0, 1), ("Q", "")),
            "relig": (whole(1, 5), SECRET),
            "educ": (whole(9, 20), ("Q", "")),
            "occup": (whole(1, 7), VALUE),
            "ratemarr": (whole(1, 5), ("Q", "")),
            "black": (one_of(0, 1), VALUE),
            "urbrur": (one_of(1, 2, 3), VALUE),
            "hhsize": (whole(1, 7), ("Q", "")),
            "agegrp": (whole(1, 6), ("QD", "")),
            "wt_final": (decimal(1, 0.3, digits=5), GONE),
            "naffairs": (count(12), ("SD", "")),
            "hapavg": (one_of(0, 1), UNKNOWN),
        },
        seed=36,
    )  # fmt: skip


def staff() -> Made:
    """Employees, with codes beside the texts they stand for."""
    sex = one_of("F", "M")
    return made(
        {
            "Employee_Name": (person("{last}, {first}"), ID),
            "EmpID": (row(10000), ID),
            "MarriedID": (one_of(0, 1), VALUE),
            "Sex": (sex, VALUE),
            "GenderID": (Of("Sex", one_of(0, 1)), ("QD", "suppression")),
            "PerfScoreID": (whole(1, 4), SECRET),
            "Salary": (whole(45000, 250000), SECRET),
            "Position": (one_of("Technician", "Manager", "Engineer"), VALUE),
            "Zip": (shaped("0199"), CODE),
            "DOB": (day("%m/%d/%Y", 1950, 1995), DATE),
            "RaceDesc": (one_of("White", "Black or African American", "Asian"), VALUE),
            "DateofHire": (day("%m/%d/%Y", 2005, 2018), DATE),
            "TermReason": (one_of("N/A-StillEmployed", "unhappy", "more money"), ("SQD", "suppression")),
            "ManagerName": (person("{first} {last}"), ID),
            "EngagementSurvey": (decimal(4, 0.5, digits=2), SECRET),
            "Absences": (whole(1, 20), SECRET),
            "Bruttogehalt": (decimal(4000, 900, digits=2), SECRET),
            "Bonus": (decimal(900, 100, digits=2), SECRET),
            "FTE": (one_of("1.0", "0.75", "0.5"), ("Q", "")),
            "Funktion": (one_of("Meister", "Teamleiter"), VALUE),
        },
        seed=37,
    )  # fmt: skip


def voters() -> Made:
    """A survey with numbered questions on a few scales, of which single ones are something else."""
    answers = {f"Q2_{n}": (one_of(1, 2, 3, 4, -1), SECRET) for n in range(1, 11)}
    marks = {f"Q8_{n}": (one_of(1, 2, 3, 4, 5, 6, 7), SECRET) for n in range(1, 10)}
    asked = {
        f"How often do you eat {food}?": (one_of("Never", "Rarely", "Often", "Always"), SECRET)
        for food in ("pie", "corn", "yams", "stuffing", "rolls")
    }
    return made(
        {
            "RespId": (row(470001), ID),
            "weight": (decimal(1, 0.4, digits=4), GONE),
            "Q1": (one_of(1), CONSTANT),
            **answers,
            **marks,
            "Q30": (whole(1, 62), UNKNOWN),
            "q17_other": (one_of("my neighbour Bob", "no comment", "the mayor"), TEXT),
            "ppage": (whole(22, 94), ("QD", "interval")),
            "educ": (one_of("College", "Some college", "High school or less"), VALUE),
            "race": (one_of("White", "Black", "Hispanic", "Other/Mixed"), VALUE),
            "income_cat": (one_of("Less than $40k", "$40-75k", "$75-125k"), SECRET),
            "voter_category": (one_of("always", "sporadic", "rarely/never"), ("SD", "")),
            **asked,
            "age_band": (one_of("18-29", "30-44", "45-59", "60+"), BANDS),
        },
        seed=38,
    )  # fmt: skip


TABLES = (station, school, log, benefits, trial, affairs, staff, voters)
