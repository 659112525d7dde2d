"""Made-up tables as they are in life, each with what a person would say of every column.

A column's truth is the roles that are right for it, and the model if it is a quasi-identifier: I identifier,
Q quasi-identifier, S sensitive, K kept, D not released. An identifier must be I or D, whatever else is wrong.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

Truth = tuple[str, str]  # letters of the roles that are right, and the model
ID, GONE, KEPT, SECRET, TEXT = ("I", ""), ("D", ""), ("K", ""), ("S", ""), ("ID", "")
NUMBER, DATE, VALUE = ("Q", "interval"), ("Q", "interval"), ("Q", "suppression")
PERSONAL = "ID"  # roles of columns that name persons


def words(text: str) -> list[str]:
    return text.split()


FIRST = words(
    "Anna Ben Clara David Eva Felix Greta Hans Ida Jörg Karl Lea Max Nina Otto Paula Rosa Søren Tim Uwe"
)
LAST = words(
    "Müller Schmidt Weiß O'Neill García López Dupont Lefèvre Rossi Bianchi Jansen Silva Köhler Braun"
)
TOWNS = words("Köln Bonn Aachen Düren Neuss Jülich Brühl Siegburg")
JOBS = words("nurse teacher clerk driver cook engineer farmer painter")


@dataclass(frozen=True)
class Made:
    """A table as the content of a file, and the truth about its columns."""

    content: bytes
    suffix: str
    truth: dict[str, Truth]


Column = Callable[[random.Random, int], Any]


def made(
    columns: dict[str, tuple[Column, Truth]],
    records: int = 1200,
    delimiter: str = ",",
    encoding: str = "utf-8",
    seed: int = 1,
) -> Made:
    chance = random.Random(seed)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(columns)
    for record in range(records):
        writer.writerow([make(chance, record) for make, _ in columns.values()])
    truth = {name: truth for name, (_, truth) in columns.items()}
    return Made(text.getvalue().encode(encoding), ".csv", truth)


def one_of(*values: Any, weights: list[float] | None = None) -> Column:
    return lambda chance, _: chance.choices(values, weights)[0]


def whole(low: int, high: int) -> Column:
    return lambda chance, _: chance.randint(low, high)


def count(most: int = 30) -> Column:
    return lambda chance, _: min(most, int(chance.expovariate(0.5)))


def decimal(mean: float, spread: float, sign: str = ".", digits: int = 1) -> Column:
    return lambda chance, _: f"{abs(chance.gauss(mean, spread)):.{digits}f}".replace(".", sign)


def day(
    form: str, first: int = 1930, last: int = 2005, missing: str = "", share: float = 0.0
) -> Column:
    span = (date(last, 12, 31) - date(first, 1, 1)).days

    def make(chance: random.Random, _: int) -> str:
        if chance.random() < share:
            return missing
        return (date(first, 1, 1) + timedelta(chance.randint(0, span))).strftime(form)

    return make


def moment(form: str = "%Y-%m-%d %H:%M:%S") -> Column:
    return lambda chance, _: (
        datetime(2013, 1, 1) + timedelta(minutes=chance.randint(0, 700_000))
    ).strftime(form)


def row(start: int = 1) -> Column:
    return lambda _, record: start + record


def repeated(start: int, persons: int) -> Column:
    return lambda chance, _: start + chance.randrange(persons) * 7


def person(form: str) -> Column:
    return lambda chance, _: form.format(first=chance.choice(FIRST), last=chance.choice(LAST))


def shaped(shape: str) -> Column:
    """9 becomes a digit, A a letter."""
    return lambda chance, _: "".join(
        str(chance.randrange(10)) if s == "9" else chance.choice("ABCDEFGHJK") if s == "A" else s
        for s in shape
    )


def sentence(chance: random.Random, record: int) -> str:
    said = words(
        "seen today by the ward nurse complains of pain since yesterday no fever family informed"
    )
    return f"{' '.join(chance.choices(said, k=9))} {chance.choice(LAST)} {record % 900}"


def iban(chance: random.Random, _: int) -> str:
    body = "".join(str(chance.randrange(10)) for _ in range(18))
    check = 98 - int(body + "131400") % 97
    return f"DE{check:02d}{body}"


def health_insurance(chance: random.Random, _: int) -> str:
    letter = chance.randrange(26)
    digits = [*divmod(letter + 1, 10), *(chance.randrange(10) for _ in range(8))]
    total = sum(sum(divmod(d * (1 + i % 2), 10)) for i, d in enumerate(digits))
    return chr(65 + letter) + "".join(map(str, digits[2:])) + str(total % 10)


def spanish(chance: random.Random, _: int) -> str:
    number = chance.randrange(10**8)
    return f"{number:08d}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def french(chance: random.Random, _: int) -> str:
    number = int(
        f"{chance.choice('12')}{chance.randrange(40, 99)}{chance.randrange(1, 13):02d}"
        f"{chance.randrange(10, 96)}{chance.randrange(1, 990):03d}{chance.randrange(1, 999):03d}"
    )
    return f"{number}{97 - number % 97:02d}"


def email(chance: random.Random, record: int) -> str:
    return f"{chance.choice(FIRST).lower().replace('ö', 'o').replace('ø', 'o')}{record}@example.org"


def uuid(chance: random.Random, _: int) -> str:
    return str(UUID(int=chance.getrandbits(128)))


def compas() -> Made:
    """Court records: several dates, scores, charges, ages and their bands."""
    return made(
        {
            "id": (row(), ID),
            "name": (person("{first} {last}"), ID),
            "first": (person("{first}"), ID),
            "last": (person("{last}"), ID),
            "compas_screening_date": (day("%Y-%m-%d", 2013, 2014), DATE),
            "sex": (one_of("Male", "Female", weights=[4, 1]), VALUE),
            "dob": (day("%Y-%m-%d", 1940, 1996), DATE),
            "age": (whole(18, 75), NUMBER),
            "race": (one_of("African-American", "Caucasian", "Hispanic", "Other", "Asian"), VALUE),
            "juv_fel_count": (count(6), SECRET),
            "decile_score": (whole(1, 10), SECRET),
            "priors_count": (count(), SECRET),
            "c_jail_in": (moment(), DATE),
            "c_case_number": (shaped("139999CF99A"), ID),
            "c_charge_degree": (one_of("F", "M"), SECRET),
            "c_charge_desc": (one_of("Battery", "Grand Theft", "Driving License Revoked", "Possession"), SECRET),
            "is_recid": (one_of(0, 1), SECRET),
            "r_case_number": (lambda c, r: shaped("149999MM99A")(c, r) if c.random() < 0.4 else "", ID),
            "score_text": (one_of("Low", "Medium", "High"), SECRET),
            "two_year_recid": (one_of(0, 1), SECRET),
            "event": (one_of(0, 1), KEPT),
        },
        seed=2,
    )  # fmt: skip


def klinik() -> Made:
    """A German hospital's export: cp1252, semicolons, decimal commas, days before months, several stays."""
    return made(
        {
            "Fallnummer": (row(880000), ID),
            "Patientennummer": (repeated(10021, 500), ID),
            "Nachname": (person("{last}"), ID),
            "Vorname": (person("{first}"), ID),
            "Geburtsdatum": (day("%d.%m.%Y", missing="00.00.0000", share=0.02), DATE),
            "Geschlecht": (one_of("m", "w"), VALUE),
            "PLZ": (one_of("01067", "50667", "53111", "52062", "04109"), VALUE),
            "Wohnort": (lambda c, _: c.choice(TOWNS), VALUE),
            "Straße": (lambda c, _: f"{c.choice(LAST)}weg {c.randrange(1, 80)}", ID),
            "Versichertennr": (health_insurance, ID),
            "Telefon": (shaped("0221/999999"), ID),
            "Aufnahmedatum": (day("%d.%m.%Y", 2022, 2023), DATE),
            "Hauptdiagnose": (one_of("I10.0", "E11.9", "J45.1", "F32.1", "M54.5"), SECRET),
            "Größe": (whole(150, 199), NUMBER),
            "Gewicht": (decimal(75, 12, ","), NUMBER),
            "Kreatinin": (decimal(1, 0.2, ",", 2), SECRET),
            "Blutdruck_syst": (whole(95, 180), SECRET),
            "Arztbrief": (sentence, TEXT),
            "Behandelnder_Arzt": (lambda c, _: f"Dr. {c.choice(LAST)}", ID),
            "Familienstand": (one_of("ledig", "verheiratet", "geschieden", "verwitwet"), VALUE),
            "Entlassart": (one_of("01", "02", "04", "07"), KEPT),
            "erstellt_am": (moment("%d.%m.%Y %H:%M"), GONE),
        },
        delimiter=";",
        encoding="cp1252",
        seed=3,
    )


def survey() -> Made:
    """A survey: codes with 97, 98 and 99, FIPS codes with zeros, weights, answers, an open question."""
    answers = {f"q{n}": (one_of(1, 2, 3, 4, 5, 97, 98), KEPT) for n in range(1, 13)}
    return made(
        {
            "respid": (row(100001), ID),
            "interview_date": (day("%m/%d/%Y", 2021, 2021), DATE),
            "ageRange": (one_of("18-24", "25-34", "35-44", "45-64", "65+"), VALUE),
            "gender": (one_of(1, 2, 9, weights=[10, 10, 1]), VALUE),
            "county_fips": (one_of("01001", "01003", "06037", "36061", "48201"), VALUE),
            "education": (one_of(1, 2, 3, 4, 5, 97), VALUE),
            "maritalStatus": (one_of(1, 2, 3, 4, 98), VALUE),
            "hh_members": (one_of(1, 2, 3, 4, 5, 6, weights=[5, 6, 4, 3, 1, 1]), ("QK", "")),
            "occupation": (lambda c, _: c.choice(JOBS), VALUE),
            "religion": (one_of(1, 2, 3, 4, 97), SECRET),
            "vote_2020": (one_of(1, 2, 3, 98), SECRET),
            "income_band": (one_of("<20k", "20-40k", "40-60k", "60k+"), SECRET),
            **answers,
            "final_weight": (decimal(1, 0.3, digits=6), GONE),
            "open_comment": (sentence, TEXT),
            "contact_email": (lambda c, r: email(c, r) if c.random() < 0.3 else "", ID),
            "country": (one_of("US"), ("KQ", "suppression")),
        },
        seed=4,
    )


def visits() -> Made:
    """Visits of a US hospital: persons repeat, identifiers of many kinds."""
    return made(
        {
            "subject_id": (repeated(40001, 420), ID),
            "encounter_id": (row(7_000_000), ID),
            "ssn": (shaped("299-99-9999"), ID),
            "phone": (shaped("(555) 999-9999"), ID),
            "device": (uuid, ID),
            "portal": (lambda _, r: f"https://portal.example.org/u/{r}", ID),
            "last_ip": (lambda c, _: ".".join(str(c.randrange(1, 255)) for _ in range(4)), ID),
            "zip": (one_of("02139", "02140", "10001", "60601"), VALUE),
            "birth_year": (whole(1930, 2004), NUMBER),
            "sex": (one_of("F", "M"), VALUE),
            "ethnicity": (one_of("Hispanic", "Non-Hispanic", "?"), VALUE),
            "admission_date": (day("%Y-%m-%d", 2019, 2020, "9999-99-99", 0.05), DATE),
            "admission_type_id": (one_of(1, 2, 3), KEPT),
            "discharge_disposition": (one_of("home", "transfer", "died", "left"), KEPT),
            "attending_physician": (person("Dr. {first} {last}"), ID),
            "num_procedures": (count(6), ("SKQ", "interval")),
            "num_medications": (count(40), SECRET),
            "diag_1_icd": (one_of("250.1", "401", "V27", "786", "414"), SECRET),
            "glucose": (decimal(105, 20), SECRET),
            "insulin_drug": (one_of("No", "Up", "Down", "Steady"), SECRET),
            "readmitted": (one_of("NO", "<30", ">30"), SECRET),
            "note": (sentence, TEXT),
        },
        seed=5,
    )


def romance() -> Made:
    """French and Spanish columns in one table, Latin-1."""
    return made(
        {
            "nom": (person("{last}"), ID),
            "prénom": (person("{first}"), ID),
            "numéro_sécu": (french, ID),
            "date_naissance": (day("%d/%m/%Y"), DATE),
            "sexe": (one_of("H", "F"), VALUE),
            "code_postal": (one_of("01000", "75001", "13002", "69003"), VALUE),
            "profession": (one_of("ouvrier", "cadre", "agriculteur"), VALUE),
            "état_civil": (one_of("marié", "célibataire", "veuf"), VALUE),
            "revenu": (decimal(2300, 500, ",", 2), SECRET),
            "maladie": (one_of("asthme", "diabète", "aucune"), SECRET),
            "dni": (spanish, ID),
            "apellidos": (person("{last}"), ID),
            "fecha_nacimiento": (day("%d/%m/%Y"), DATE),
            "municipio": (one_of("Málaga", "Cádiz", "León"), VALUE),
            "nivel_estudios": (one_of("primaria", "secundaria", "superior"), VALUE),
            "ingresos": (whole(700, 4500), SECRET),
            "teléfono": (shaped("+34 699 999 999"), ID),
            "observaciones": (sentence, TEXT),
            "nombre_d_enfants": (count(6), NUMBER),
        },
        delimiter=";",
        encoding="latin-1",
        seed=6,
    )


def bank() -> Made:
    """Italian, Dutch and Portuguese columns of a bank."""
    return made(
        {
            "cliente": (repeated(5000, 600), ID),
            "codice_fiscale": (shaped("AAAAAA99A01A999A"), ID),
            "iban": (iban, ID),
            "conto": (iban, ID),
            "cognome": (person("{last}"), ID),
            "data_di_nascita": (day("%Y%m%d"), DATE),
            "sesso": (one_of("M", "F"), VALUE),
            "comune": (one_of("Roma", "Milano", "Torino"), VALUE),
            "reddito": (whole(12000, 90000), SECRET),
            "achternaam": (person("{last}"), ID),
            "geslacht": (one_of("man", "vrouw"), VALUE),
            "woonplaats": (one_of("Utrecht", "Leiden", "Delft"), VALUE),
            "beroep": (one_of("bakker", "leraar", "arts"), VALUE),
            "schuld": (decimal(900, 300, digits=2), ("SD", "")),
            "data_nascimento": (day("%Y%m%d"), DATE),
            "estado_civil": (one_of("casado", "solteiro"), VALUE),
            "salário": (whole(700, 4000), SECRET),
            "segment": (one_of("A", "B", "C"), KEPT),
        },
        seed=7,
    )


def defect() -> Made:
    """The small table on which the first version went wrong."""
    return made(
        {
            "mrn": (row(9000), ID),
            "first": (lambda _, r: f"Ann{r % 7}", ID),
            "last": (lambda _, r: f"Lee{r % 9}", ID),
            "admission_type_id": (lambda _, r: r % 3, KEPT),
            "is_dead": (
                lambda _, r: r % 2,
                ("Q", "suppression"),
            ),  # it follows from the day of birth
            "postcode": (lambda _, r: 10000 + r % 5, VALUE),
            "note": (lambda _, r: f"seen by Dr Brown on day {r % 58}", TEXT),
            "dob_text": (lambda _, r: f"{r % 28 + 1:02d}.01.1980", DATE),
        },
        records=60,
    )


def wide() -> Made:
    """Two hundred columns, most of them answers."""
    columns: dict[str, tuple[Column, Truth]] = {
        "participant": (row(500), ID),
        "alter": (whole(18, 90), NUMBER),
        "geschlecht": (one_of(1, 2), VALUE),
        "bundesland": (whole(1, 16), VALUE),
    }
    columns |= {f"item_{n:03d}": (one_of(0, 1, 2, 3, 9), KEPT) for n in range(196)}
    return made(columns, records=600, seed=8)


def diabetes() -> Made:
    """As the visits of 130 US hospitals: bands, question marks, codes named ID."""
    steps = {
        f"{drug}": (one_of("No", "Steady", "Up", "Down"), ("KS", ""))
        for drug in ("metformin", "insulin", "glipizide")
    }
    return made(
        {
            "encounter_id": (row(2278392), ID),
            "patient_nbr": (repeated(8222157, 800), ID),
            "race": (one_of("Caucasian", "AfricanAmerican", "?", "Asian", "Hispanic"), VALUE),
            "gender": (one_of("Female", "Male"), VALUE),
            "age": (one_of("[50-60)", "[60-70)", "[70-80)", "[80-90)"), VALUE),
            "weight": (
                one_of("?", "[75-100)", "[50-75)", "[100-125)", weights=[20, 3, 2, 1]),
                VALUE,
            ),
            "admission_type_id": (whole(1, 6), KEPT),
            "discharge_disposition_id": (whole(1, 20), ("KQ", "suppression")),
            "time_in_hospital": (whole(1, 14), ("KSQ", "interval")),
            "payer_code": (one_of("?", "MC", "HM", "SP", "BC"), ("KQ", "suppression")),
            "medical_specialty": (
                one_of("?", "Cardiology", "InternalMedicine", "Surgery"),
                ("KS", ""),
            ),
            "num_lab_procedures": (whole(1, 90), ("SK", "")),
            "num_procedures": (whole(0, 6), ("SK", "")),
            "num_medications": (count(40), SECRET),
            "number_outpatient": (count(8), ("SKQ", "interval")),
            "number_inpatient": (count(8), ("SKQ", "interval")),
            "diag_1": (one_of("250.83", "276", "648", "8", "V57"), SECRET),
            "max_glu_serum": (one_of("None", "Norm", ">200", ">300"), ("SK", "")),
            "A1Cresult": (one_of("None", "Norm", ">7", ">8"), SECRET),
            **steps,
            "change": (one_of("No", "Ch"), KEPT),
            "diabetesMed": (one_of("Yes", "No"), ("SK", "")),
            "readmitted": (one_of("NO", "<30", ">30"), SECRET),
        },
        seed=9,
    )


def telco() -> Made:
    """As customers of a telephone company: services named after telephones, charges."""
    return made(
        {
            "customerID": (shaped("9999-AAAAA"), ID),
            "gender": (one_of("Female", "Male"), VALUE),
            "SeniorCitizen": (one_of(0, 1), ("QK", "suppression")),
            "Partner": (one_of("Yes", "No"), ("QK", "suppression")),
            "Dependents": (one_of("Yes", "No"), VALUE),
            "tenure": (whole(0, 72), ("QK", "interval")),
            "PhoneService": (one_of("Yes", "No"), KEPT),
            "MultipleLines": (one_of("No phone service", "No", "Yes"), KEPT),
            "InternetService": (one_of("DSL", "Fiber optic", "No"), KEPT),
            "StreamingTV": (one_of("No", "Yes", "No internet service"), KEPT),
            "Contract": (one_of("Month-to-month", "One year", "Two year"), KEPT),
            "PaperlessBilling": (one_of("Yes", "No"), ("KS", "")),
            "PaymentMethod": (
                one_of("Electronic check", "Mailed check", "Bank transfer"),
                ("KS", ""),
            ),
            "MonthlyCharges": (decimal(64, 20, digits=2), SECRET),
            "TotalCharges": (decimal(2000, 900, digits=2), SECRET),
            "Churn": (one_of("Yes", "No"), ("KS", "")),
        },
        seed=10,
    )


def titanic() -> Made:
    """As the passengers of a ship."""
    return made(
        {
            "PassengerId": (row(), ID),
            "Survived": (one_of(0, 1), ("SK", "")),
            "Pclass": (one_of(1, 2, 3), ("KQ", "suppression")),
            "Name": (person("{last}, Mr. {first}"), ID),
            "Sex": (one_of("male", "female"), VALUE),
            "Age": (
                lambda c, _: c.choice(["", str(c.randint(1, 70)), f"{c.randint(1, 70)}.5"]),
                NUMBER,
            ),
            "SibSp": (count(8), ("KQ", "interval")),
            "Parch": (count(6), ("KQ", "interval")),
            "Ticket": (shaped("A/9 99999"), ID),
            "Fare": (decimal(32, 20, digits=4), ("SQD", "interval")),
            "Cabin": (
                lambda c, _: c.choice(["", "", "", f"C{c.randrange(20, 120)}"]),
                ("QDI", "suppression"),
            ),
            "Embarked": (one_of("S", "C", "Q"), ("KQ", "suppression")),
        },
        records=891,
        seed=11,
    )


def mimic() -> Made:
    """As admissions to intensive care."""
    return made(
        {
            "ROW_ID": (row(), ID),
            "SUBJECT_ID": (repeated(22, 700), ID),
            "HADM_ID": (repeated(165315, 9999), ID),
            "ADMITTIME": (moment(), DATE),
            "DISCHTIME": (moment(), DATE),
            "DEATHTIME": (lambda c, r: moment()(c, r) if c.random() < 0.1 else "", DATE),
            "ADMISSION_TYPE": (one_of("EMERGENCY", "ELECTIVE", "NEWBORN"), KEPT),
            "ADMISSION_LOCATION": (
                one_of("EMERGENCY ROOM ADMIT", "TRANSFER FROM HOSP"),
                ("KQ", "suppression"),
            ),
            "INSURANCE": (one_of("Private", "Medicare", "Medicaid"), ("KQS", "suppression")),
            "LANGUAGE": (one_of("ENGL", "SPAN", "RUSS"), VALUE),
            "RELIGION": (one_of("CATHOLIC", "JEWISH", "UNOBTAINABLE"), SECRET),
            "MARITAL_STATUS": (one_of("MARRIED", "SINGLE", "WIDOWED"), VALUE),
            "ETHNICITY": (one_of("WHITE", "BLACK", "ASIAN"), VALUE),
            "DIAGNOSIS": (one_of("SEPSIS", "PNEUMONIA", "HYPOTENSION", "CHEST PAIN"), SECRET),
            "HOSPITAL_EXPIRE_FLAG": (one_of(0, 1), ("KS", "")),
        },
        seed=12,
    )


def loans() -> Made:
    """As loans between persons: titles, truncated codes, addresses of the web, free descriptions."""
    return made(
        {
            "id": (row(1077501), ID),
            "member_id": (row(1296599), ID),
            "loan_amnt": (whole(10, 350), SECRET),
            "int_rate": (decimal(12, 3, digits=2), ("SQD", "interval")),
            "grade": (one_of("A", "B", "C", "D"), SECRET),
            "emp_title": (lambda c, _: c.choice(JOBS), VALUE),
            "emp_length": (one_of("< 1 year", "2 years", "5 years", "10+ years"), ("KQ", "")),
            "home_ownership": (one_of("RENT", "OWN", "MORTGAGE"), ("KQS", "suppression")),
            "annual_inc": (whole(14000, 150000), ("SI", "")),
            "issue_d": (day("%d-%b-%Y", 2010, 2012), DATE),
            "url": (lambda _, r: f"https://example.org/loans?id={r}", ID),
            "desc": (sentence, TEXT),
            "purpose": (one_of("car", "credit_card", "house", "medical"), ("KS", "")),
            "zip_code": (shaped("9xx"), VALUE),
            "addr_state": (one_of("CA", "NY", "TX", "NA"), VALUE),
            "dti": (decimal(15, 5, digits=2), ("SQD", "interval")),
            "delinq_2yrs": (count(5), ("KSQ", "interval")),
            "loan_status": (one_of("Fully Paid", "Charged Off", "Current"), SECRET),
        },
        seed=13,
    )


def stroke() -> Made:
    """As patients at risk of a stroke."""
    return made(
        {
            "id": (repeated(67, 70000), ID),
            "gender": (one_of("Male", "Female"), VALUE),
            "age": (whole(1, 82), NUMBER),
            "hypertension": (one_of(0, 1), SECRET),
            "heart_disease": (one_of(0, 1), SECRET),
            "ever_married": (one_of("Yes", "No"), VALUE),
            "work_type": (one_of("Private", "Self-employed", "Govt_job", "children"), VALUE),
            "Residence_type": (one_of("Urban", "Rural"), VALUE),
            "avg_glucose_level": (decimal(106, 30, digits=2), SECRET),
            "bmi": (lambda c, r: "N/A" if c.random() < 0.04 else decimal(28, 6)(c, r), SECRET),
            "smoking_status": (one_of("never smoked", "formerly smoked", "Unknown"), SECRET),
            "stroke": (one_of(0, 1), SECRET),
        },
        seed=14,
    )


CASES = (
    diabetes,
    telco,
    titanic,
    mimic,
    loans,
    stroke,
    compas,
    klinik,
    survey,
    visits,
    romance,
    bank,
    defect,
    wide,
)


def all_cases() -> Iterator[tuple[str, Made]]:
    for case in CASES:
        yield case.__name__, case()
