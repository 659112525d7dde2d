"""Made-up tables with the columns of tables that are often used in public."""

from __future__ import annotations

from suggested import (
    BANDS,
    CODE,
    DATE,
    ID,
    JOBS,
    NUMBER,
    SECRET,
    TEXT,
    UNKNOWN,
    VALUE,
    Made,
    Of,
    count,
    day,
    decimal,
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


def diabetes() -> Made:
    """As the visits of 130 US hospitals: bands, question marks, codes named ID."""
    steps = {
        f"{drug}": (one_of("No", "Steady", "Up", "Down"), ("S", ""))
        for drug in ("metformin", "insulin", "glipizide")
    }
    return made(
        {
            "encounter_id": (row(2278392), ID),
            "patient_nbr": (repeated(8222157, 800), ID),
            "race": (
                Of("patient_nbr", one_of("Caucasian", "AfricanAmerican", "?", "Asian", "Hispanic")),
                VALUE,
            ),
            "gender": (Of("patient_nbr", one_of("Female", "Male")), VALUE),
            "age": (one_of("[50-60)", "[60-70)", "[70-80)", "[80-90)"), BANDS),
            "weight": (
                one_of("?", "[75-100)", "[50-75)", "[100-125)", weights=[20, 3, 2, 1]),
                BANDS,
            ),
            "admission_type_id": (whole(1, 6), SECRET),
            "discharge_disposition_id": (whole(1, 20), ("SQ", "suppression")),
            "time_in_hospital": (whole(1, 14), ("SQ", "interval")),
            "payer_code": (one_of("?", "MC", "HM", "SP", "BC"), ("Q", "suppression")),
            "medical_specialty": (
                one_of("?", "Cardiology", "InternalMedicine", "Surgery"),
                ("S", ""),
            ),
            "num_lab_procedures": (whole(1, 90), ("S", "")),
            "num_procedures": (whole(0, 6), ("S", "")),
            "num_medications": (count(40), SECRET),
            "number_outpatient": (count(8), ("SQ", "interval")),
            "number_inpatient": (count(8), ("SQ", "interval")),
            "diag_1": (one_of("250.83", "276", "648", "8", "V57"), SECRET),
            "max_glu_serum": (one_of("None", "Norm", ">200", ">300"), ("S", "")),
            "A1Cresult": (one_of("None", "Norm", ">7", ">8"), SECRET),
            **steps,
            "change": (one_of("No", "Ch"), UNKNOWN),
            "diabetesMed": (one_of("Yes", "No"), ("S", "")),
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
            "SeniorCitizen": (one_of(0, 1), ("Q", "suppression")),
            "Partner": (one_of("Yes", "No"), ("Q", "suppression")),
            "Dependents": (one_of("Yes", "No"), VALUE),
            "tenure": (whole(0, 72), ("Q", "interval")),
            "PhoneService": (one_of("Yes", "No"), SECRET),
            "MultipleLines": (one_of("No phone service", "No", "Yes"), SECRET),
            "InternetService": (one_of("DSL", "Fiber optic", "No"), SECRET),
            "StreamingTV": (one_of("No", "Yes", "No internet service"), SECRET),
            "Contract": (one_of("Month-to-month", "One year", "Two year"), SECRET),
            "PaperlessBilling": (one_of("Yes", "No"), ("S", "")),
            "PaymentMethod": (
                one_of("Electronic check", "Mailed check", "Bank transfer"),
                ("S", ""),
            ),
            "MonthlyCharges": (decimal(64, 20, digits=2), SECRET),
            "TotalCharges": (decimal(2000, 900, digits=2), SECRET),
            "Churn": (one_of("Yes", "No"), ("S", "")),
        },
        seed=10,
    )


def titanic() -> Made:
    """As the passengers of a ship."""
    return made(
        {
            "PassengerId": (row(), ID),
            "Survived": (one_of(0, 1), ("S", "")),
            "Pclass": (one_of(1, 2, 3), ("QD", "suppression")),
            "Name": (person("{last}, Mr. {first}"), ID),
            "Sex": (one_of("male", "female"), VALUE),
            "Age": (
                lambda c, _: c.choice(["", str(c.randint(1, 70)), f"{c.randint(1, 70)}.5"]),
                NUMBER,
            ),
            "SibSp": (count(8), ("QD", "interval")),
            "Parch": (count(6), ("QD", "interval")),
            "Ticket": (shaped("A/9 99999"), ID),
            "Fare": (decimal(32, 20, digits=4), ("SQD", "interval")),
            "Cabin": (
                lambda c, _: c.choice(["", "", "", f"C{c.randrange(20, 120)}"]),
                ("QDI", "suppression"),
            ),
            "Embarked": (one_of("S", "C", "Q"), ("QD", "suppression")),
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
            "ADMISSION_TYPE": (one_of("EMERGENCY", "ELECTIVE", "NEWBORN"), SECRET),
            "ADMISSION_LOCATION": (
                one_of("EMERGENCY ROOM ADMIT", "TRANSFER FROM HOSP"),
                ("Q", "suppression"),
            ),
            "INSURANCE": (one_of("Private", "Medicare", "Medicaid"), ("QS", "suppression")),
            "LANGUAGE": (one_of("ENGL", "SPAN", "RUSS"), VALUE),
            "RELIGION": (one_of("CATHOLIC", "JEWISH", "UNOBTAINABLE"), SECRET),
            "MARITAL_STATUS": (one_of("MARRIED", "SINGLE", "WIDOWED"), VALUE),
            "ETHNICITY": (Of("SUBJECT_ID", one_of("WHITE", "BLACK", "ASIAN")), VALUE),
            "DIAGNOSIS": (one_of("SEPSIS", "PNEUMONIA", "HYPOTENSION", "CHEST PAIN"), SECRET),
            "HOSPITAL_EXPIRE_FLAG": (one_of(0, 1), ("S", "")),
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
            "emp_length": (one_of("< 1 year", "2 years", "5 years", "10+ years"), ("Q", "")),
            "home_ownership": (one_of("RENT", "OWN", "MORTGAGE"), ("QS", "suppression")),
            "annual_inc": (whole(14000, 150000), ("SI", "")),
            "issue_d": (day("%d-%b-%Y", 2010, 2012), DATE),
            "url": (lambda _, r: f"https://example.org/loans?id={r}", ID),
            "desc": (sentence, TEXT),
            "purpose": (one_of("car", "credit_card", "house", "medical"), ("S", "")),
            "zip_code": (shaped("9xx"), CODE),
            "addr_state": (one_of("CA", "NY", "TX", "NA"), VALUE),
            "dti": (decimal(15, 5, digits=2), ("SQD", "interval")),
            "delinq_2yrs": (count(5), ("SQ", "interval")),
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


TABLES = (diabetes, telco, titanic, mimic, loans, stroke)
