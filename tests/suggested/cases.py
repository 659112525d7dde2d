"""Made-up tables of courts, hospitals, surveys and banks, in several languages and encodings."""

from __future__ import annotations

from suggested import (
    BANDS,
    CODE,
    DATE,
    GONE,
    ID,
    JOBS,
    LAST,
    NUMBER,
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
    iban,
    made,
    moment,
    one_of,
    person,
    repeated,
    row,
    sentence,
    shaped,
    spanish,
    uuid,
    whole,
)


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
            "event": (one_of(0, 1), UNKNOWN),
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
            "Geburtsdatum": (
                Of("Patientennummer", day("%d.%m.%Y", missing="00.00.0000", share=0.02)),
                DATE,
            ),
            "Geschlecht": (Of("Patientennummer", one_of("m", "w")), VALUE),
            "PLZ": (one_of("01067", "50667", "53111", "52062", "04109"), CODE),
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
            "Entlassart": (one_of("01", "02", "04", "07"), SECRET),
            "erstellt_am": (moment("%d.%m.%Y %H:%M"), GONE),
        },
        delimiter=";",
        encoding="cp1252",
        seed=3,
    )


def survey() -> Made:
    """A survey: codes with 97, 98 and 99, FIPS codes with zeros, weights, answers, an open question."""
    answers = {f"q{n}": (one_of(1, 2, 3, 4, 5, 97, 98), SECRET) for n in range(1, 13)}
    return made(
        {
            "respid": (row(100001), ID),
            "interview_date": (day("%m/%d/%Y", 2021, 2021), DATE),
            "ageRange": (one_of("18-24", "25-34", "35-44", "45-64", "65+"), BANDS),
            "gender": (one_of(1, 2, 9, weights=[10, 10, 1]), VALUE),
            "county_fips": (one_of("01001", "01003", "06037", "36061", "48201"), CODE),
            "education": (one_of(1, 2, 3, 4, 5, 97), VALUE),
            "maritalStatus": (one_of(1, 2, 3, 4, 98), VALUE),
            "hh_members": (one_of(1, 2, 3, 4, 5, 6, weights=[5, 6, 4, 3, 1, 1]), ("Q", "")),
            "occupation": (lambda c, _: c.choice(JOBS), VALUE),
            "religion": (one_of(1, 2, 3, 4, 97), SECRET),
            "vote_2020": (one_of(1, 2, 3, 98), SECRET),
            "income_band": (one_of("<20k", "20-40k", "40-60k", "60k+"), SECRET),
            **answers,
            "final_weight": (decimal(1, 0.3, digits=6), GONE),
            "open_comment": (sentence, TEXT),
            "contact_email": (lambda c, r: email(c, r) if c.random() < 0.3 else "", ID),
            "country": (one_of("US"), ("K", "")),
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
            "zip": (one_of("02139", "02140", "10001", "60601"), CODE),
            "birth_year": (Of("subject_id", whole(1930, 2004)), NUMBER),
            "sex": (Of("subject_id", one_of("F", "M")), VALUE),
            "ethnicity": (Of("subject_id", one_of("Hispanic", "Non-Hispanic", "?")), VALUE),
            "admission_date": (day("%Y-%m-%d", 2019, 2020, "9999-99-99", 0.05), DATE),
            "admission_type_id": (one_of(1, 2, 3), SECRET),
            "discharge_disposition": (one_of("home", "transfer", "died", "left"), SECRET),
            "attending_physician": (person("Dr. {first} {last}"), ID),
            "num_procedures": (count(6), ("SQ", "interval")),
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
            "code_postal": (one_of("01000", "75001", "13002", "69003"), CODE),
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
            "segment": (one_of("A", "B", "C"), UNKNOWN),
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
            "admission_type_id": (lambda _, r: r % 3, ("SQ", "suppression")),
            "is_dead": (
                lambda _, r: r % 2,
                ("Q", "suppression"),
            ),  # it follows from the day of birth
            "postcode": (lambda _, r: 10000 + r % 5, CODE),
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
    columns |= {f"item_{n:03d}": (one_of(0, 1, 2, 3, 9), SECRET) for n in range(196)}
    return made(columns, records=600, seed=8)


TABLES = (compas, klinik, survey, visits, romance, bank, defect, wide)
