"""More made-up tables, written after the first rules."""

from __future__ import annotations

from suggested import (
    CONSTANT,
    DATE,
    ID,
    JOBS,
    NUMBER,
    SECRET,
    TEXT,
    TOWNS,
    UNKNOWN,
    VALUE,
    Made,
    count,
    day,
    decimal,
    email,
    iban,
    made,
    one_of,
    person,
    sentence,
    shaped,
    whole,
)


def employees() -> Made:
    """As employees of a company."""
    return made(
        {
            "Age": (whole(18, 60), NUMBER),
            "Attrition": (one_of("Yes", "No"), ("S", "")),
            "BusinessTravel": (
                one_of("Travel_Rarely", "Non-Travel", "Travel_Frequently"),
                ("Q", "suppression"),
            ),
            "DailyRate": (whole(100, 1499), ("SQDI", "interval")),
            "Department": (one_of("Sales", "R&D", "HR"), VALUE),
            "DistanceFromHome": (whole(1, 29), ("Q", "interval")),
            "Education": (whole(1, 5), VALUE),
            "EducationField": (one_of("Life Sciences", "Medical", "Other"), VALUE),
            "EmployeeCount": (one_of(1), CONSTANT),
            "EmployeeNumber": (lambda c, r: r * 2 + c.randrange(2), ID),
            "EnvironmentSatisfaction": (whole(1, 4), ("S", "")),
            "Gender": (one_of("Male", "Female"), VALUE),
            "HourlyRate": (whole(30, 100), ("SQDI", "interval")),
            "JobLevel": (whole(1, 5), VALUE),
            "JobRole": (one_of("Manager", "Nurse", "Sales Executive"), VALUE),
            "MaritalStatus": (one_of("Single", "Married"), VALUE),
            "MonthlyIncome": (whole(1009, 19999), SECRET),
            "NumCompaniesWorked": (whole(0, 9), ("QS", "interval")),
            "Over18": (one_of("Y"), CONSTANT),
            "OverTime": (one_of("Yes", "No"), UNKNOWN),
            "PerformanceRating": (one_of(3, 4), SECRET),
            "StockOptionLevel": (whole(0, 3), SECRET),
            "TotalWorkingYears": (whole(0, 40), NUMBER),
            "YearsAtCompany": (whole(0, 37), ("Q", "interval")),
        },
        seed=21,
    )


def calls() -> Made:
    """As customers called by a bank."""
    return made(
        {
            "age": (whole(18, 90), NUMBER),
            "job": (one_of("admin.", "unknown", "services"), VALUE),
            "marital": (one_of("married", "single"), VALUE),
            "education": (one_of("basic.4y", "high.school", "unknown"), VALUE),
            "default": (one_of("no", "unknown", "yes"), SECRET),
            "housing": (one_of("no", "yes"), ("QS", "suppression")),
            "loan": (one_of("no", "yes"), SECRET),
            "contact": (one_of("cellular", "telephone"), UNKNOWN),
            "month": (one_of("may", "jun", "jul"), ("Q", "suppression")),
            "day_of_week": (one_of("mon", "tue"), ("Q", "suppression")),
            "duration": (whole(0, 2000), ("QDI", "interval")),
            "campaign": (count(12), ("SD", "")),
            "pdays": (one_of(999, 3, 6, 4, weights=[50, 1, 1, 1]), ("QD", "")),
            "poutcome": (one_of("nonexistent", "failure"), ("S", "")),
            "euribor3m": (one_of("4.857", "4.961", "1.334"), ("QD", "")),
            "y": (one_of("no", "yes"), UNKNOWN),
        },
        seed=22,
    )


def outbreak() -> Made:
    """As a list of cases of a British hospital, with terse names."""
    return made(
        {
            "case_ID": (lambda c, r: f"{r:06d}", ID),
            "record_hash": (lambda c, r: f"{c.getrandbits(128):032x}", ID),
            "nhs_no": (shaped("9999999999"), ID),
            "pat_surname": (person("{last}"), ID),
            "patientForename": (person("{first}"), ID),
            "GP_name": (person("Dr {last}"), ID),
            "next_of_kin": (person("{first} {last}"), ID),
            "hosp_site": (one_of("RJ1", "RYJ", "RAL"), ("Q", "suppression")),
            "date_onset": (day("%d/%m/%Y", 2020, 2020), DATE),
            "date_dx": (day("%d/%m/%Y", 2020, 2020), DATE),
            "YOB": (whole(1930, 2010), NUMBER),
            "gender_cd": (one_of(1, 2, 9), VALUE),
            "LSOA": (lambda c, r: f"E0{c.randrange(1000, 1040)}", ("QI", "prefix")),
            "ethnic_grp": (one_of("A", "B", "M"), VALUE),
            "occ_code": (one_of("2231", "6145"), ("Q", "suppression")),
            "fever": (one_of("Y", "N"), SECRET),
            "o2_sat": (whole(85, 100), ("SQD", "interval")),
            "pregnant": (one_of("Y", "N", "NA"), SECRET),
            "outcome": (one_of("alive", "dead"), SECRET),
            "vacc_batch": (shaped("AA9999"), ("IDS", "")),
            "free_txt": (sentence, TEXT),
            "reg_plate": (shaped("AA99 AAA"), ID),
        },
        seed=23,
    )


def contracts() -> Made:
    """As contracts of a German insurer."""
    return made(
        {
            "Policennummer": (shaped("999-9999999"), ID),
            "VN_Name": (person("{last}, {first}"), ID),
            "VN_GebDat": (day("%d.%m.%Y"), DATE),
            "Anrede": (one_of("Herr", "Frau"), ("Q", "suppression")),
            "Ort": (lambda c, _: c.choice(TOWNS), VALUE),
            "Beitrag_EUR": (decimal(80, 20, ",", 2), SECRET),
            "Schadensumme": (decimal(800, 300, ",", 2), ("SQD", "interval")),
            "Raucher": (one_of("J", "N"), SECRET),
            "Beruf": (lambda c, _: c.choice(JOBS), VALUE),
            "Vermittler": (person("{first} {last}"), ID),
            "IBAN_Konto": (iban, ID),
            "Tarif": (one_of("T1", "T2"), SECRET),
            "Kfz_Kennz": (shaped("K-AA 999"), ID),
            "Handynr": (shaped("0171 9999999"), ID),
            "eMail": (email, ID),
            "Vertragsbeginn": (day("%d.%m.%Y", 2010, 2020), DATE),
        },
        delimiter=";",
        encoding="cp1252",
        seed=24,
    )


TABLES = (employees, calls, outbreak, contracts)
