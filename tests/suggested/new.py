"""Made-up tables in several languages that were written after the rules.

When the first six were first tried, 127 of 140 columns were right, and words were added for some of the others. Then
the last four were written: 70 of 72 were right, and nothing was changed for them. No column of any was released with
less protection than it needs.
"""

from __future__ import annotations

from suggested import (
    BANDS,
    CODE,
    CONSTANT,
    DATE,
    GONE,
    ID,
    JOBS,
    JOINED,
    POINT,
    READY,
    SECRET,
    TEXT,
    UNKNOWN,
    VALUE,
    Made,
    Of,
    count,
    day,
    decimal,
    email,
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
    whole,
)

WORD = ("Q", "")  # a quasi-identifier with any model


def emergencies() -> Made:
    """Visits to a Spanish emergency ward; patients come back."""
    return made(
        {
            "num_historia": (repeated(400000, 500), ID),
            "DNI": (Of("num_historia", spanish), ID),
            "Nombre y apellidos": (Of("num_historia", person("{first} {last}")), ID),
            "F. nacimiento": (Of("num_historia", day("%d/%m/%Y")), DATE),
            "Sexo": (Of("num_historia", one_of("Hombre", "Mujer")), VALUE),
            "CP": (one_of("28001", "28013", "08002", "41004"), CODE),
            "Nacionalidad": (one_of("ES", "MA", "RO", "CO"), VALUE),
            "Fecha ingreso": (day("%d/%m/%Y", 2022, 2022), DATE),
            "Hora triaje": (lambda c, _: f"{c.randrange(24):02d}:{c.randrange(60):02d}", ("QDI", "")),
            "Aseguradora": (one_of("SNS", "Sanitas", "Mapfre"), VALUE),
            "Diagnóstico principal": (one_of("asma", "neumonía", "fractura"), SECRET),
            "Tensión arterial": (whole(90, 190), SECRET),
            "Temperatura": (decimal(37, 0.8, ","), SECRET),
            "Tratamiento": (one_of("paracetamol", "ibuprofeno", "ninguno"), SECRET),
            "Coste": (decimal(250, 60, ",", 2), SECRET),
            "Alta voluntaria": (one_of("sí", "no"), ("SD", "")),
            "Observaciones": (sentence, TEXT),
            "Situación laboral": (one_of("empleado", "parado", "jubilado"), WORD),
            "Fumador": (one_of("sí", "no"), SECRET),
        },
        delimiter=";",
        encoding="latin-1",
        seed=41,
    )  # fmt: skip


def job_centre() -> Made:
    """Clients of a German job centre."""
    return made(
        {
            "Kundennummer": (shaped("999A999999"), ID),
            "Name, Vorname": (person("{last}, {first}"), ID),
            "Geb.-Dat.": (day("%d.%m.%Y"), DATE),
            "Geschl": (one_of("m", "w", "d", weights=[10, 10, 1]), VALUE),
            "Staatsangeh.": (one_of("deutsch", "türkisch", "syrisch"), VALUE),
            "Fam.stand": (one_of("led.", "verh.", "gesch."), VALUE),
            "Anz. Kinder": (whole(0, 5), WORD),
            "Wohnort": (one_of("Halle", "Leipzig", "Jena"), VALUE),
            "Schulabschluss": (one_of("ohne", "HS", "RS", "Abitur"), VALUE),
            "erlernter Beruf": (lambda c, _: c.choice(JOBS), VALUE),
            "arbeitslos seit": (day("%d.%m.%Y", 2015, 2023), DATE),
            "Leistungsart": (one_of("ALG I", "Bürgergeld", "keine"), SECRET),
            "Regelbedarf": (decimal(502, 60, ",", 2), ("SD", "")),
            "Miete warm": (decimal(520, 80, ",", 2), SECRET),
            "GdB": (one_of(0, 30, 50, 80), ("SD", "")),
            "Sanktionen": (count(4), ("SD", "")),
            "Konfession": (one_of("rk", "ev", "keine", "islam"), SECRET),
            "IBAN": (iban, ID),
            "Berater": (person("{last}"), TEXT),
            "Vermerk": (sentence, TEXT),
            "Vorstrafen": (count(3), SECRET),
            "Mandant": (one_of("1"), CONSTANT),
        },
        delimiter=";",
        encoding="cp1252",
        seed=42,
    )  # fmt: skip


def tribunal() -> Made:
    """Cases of an Italian court."""
    return made(
        {
            "n_fascicolo": (lambda _, r: f"RG{r:05d}/2021", ID),
            "imputato": (person("{first} {last}"), ID),
            "data_nascita": (day("%Y-%m-%d", 1950, 2002), DATE),
            "genere": (one_of("maschio", "femmina"), VALUE),
            "luogo_nascita": (one_of("Napoli", "Bari", "Tunisi"), VALUE),
            "cittadinanza": (one_of("italiana", "tunisina", "romena"), VALUE),
            "titolo_studio": (one_of("licenza media", "diploma", "laurea"), VALUE),
            "professione": (one_of("operaio", "disoccupato", "impiegato"), VALUE),
            "stato_civile": (one_of("celibe", "coniugato"), VALUE),
            "reato": (one_of("furto", "rapina", "lesioni", "spaccio"), SECRET),
            "condanna_mesi": (whole(0, 60), SECRET),
            "data_sentenza": (day("%Y-%m-%d", 2021, 2022), DATE),
            "recidiva": (one_of("si", "no"), SECRET),
            "giudice": (person("{last}"), TEXT),
            "avvocato": (person("{first} {last}"), ID),
            "patteggiamento": (one_of("si", "no"), UNKNOWN),
            "tossicodipendenza": (one_of("si", "no"), ("SD", "")),
            "multa_euro": (decimal(900, 300, digits=2), ("SD", "")),
        },
        seed=43,
    )  # fmt: skip


def panel() -> Made:
    """A panel survey in the style of statistical offices: joined abbreviations, batteries, weights, missing codes."""
    trust = {f"trstp{n}": (one_of(*range(11), 88, 99), ("SD", "")) for n in range(1, 8)}
    values = {f"item{n:02d}": (one_of(1, 2, 3, 4, 5, 6, 9), SECRET) for n in range(1, 22)}
    return made(
        {
            "idno": (row(5001), ID),
            "cntry": (one_of("DE", "FR", "PL", "SE"), READY),
            "gndr": (one_of(1, 2, 9, weights=[20, 20, 1]), VALUE),
            "agea": (whole(15, 95), ("QD", "interval")),
            "yrbrn": (whole(1925, 2005), WORD),
            "hhmmb": (whole(1, 8), ("QD", "")),
            "edulvl": (whole(1, 7), WORD),
            "maritalb": (one_of(1, 2, 3, 4, 5, 6, 77), VALUE),
            "domicil": (one_of(1, 2, 3, 4, 5), ("QD", "suppression")),
            "rlgdnm": (one_of(1, 2, 3, 4, 66), ("SD", "")),
            "lrscale": (whole(0, 10), ("SD", "")),
            "happy": (whole(0, 10), ("SD", "")),
            "health": (one_of(1, 2, 3, 4, 5), SECRET),
            "hincfel": (one_of(1, 2, 3, 4), ("SD", "")),
            **trust,
            **values,
            "dweight": (decimal(1, 0.2, digits=4), GONE),
            "pspwght": (decimal(1, 0.4, digits=4), GONE),
            "inwds": (moment("%Y-%m-%d %H:%M:%S"), ("QD", "calendar")),
            "union": (one_of(1, 2, 3), SECRET),
        },
        seed=44,
    )  # fmt: skip


def riders() -> Made:
    """Rides of a bicycle hire, and the accounts of the riders."""
    return made(
        {
            "ride_id": (row(88000), ID),
            "user_hash": (lambda c, _: f"{c.randrange(300) * 104729 + 7:032x}", ID),
            "started_at": (moment(), DATE),
            "start_lat": (decimal(40.7, 0.04, digits=4), POINT),
            "start_lng": (decimal(73.9, 0.04, digits=4), JOINED),
            "start_station": (one_of("W 20 St", "Broadway", "Canal St", "Pier 40"), VALUE),
            "duration_sec": (whole(60, 3600), ("SQD", "interval")),
            "bike_id": (whole(14000, 15000), ("IDQ", "")),
            "member_type": (one_of("annual", "day pass"), ("QSD", "suppression")),
            "birth_year": (Of("user_hash", whole(1950, 2004)), WORD),
            "gender": (Of("user_hash", one_of(0, 1, 2)), VALUE),
            "payment_card": (shaped("**** 9999"), ("ID", "")),
            "helmet": (one_of("Y", "N"), UNKNOWN),
        },
        records=1500,
        seed=45,
        points={"start_lat": "start_place"},
    )  # fmt: skip


def pupils() -> Made:
    """Pupils of French and Dutch schools."""
    return made(
        {
            "INE": (shaped("9999999999A"), ID),
            "Nom de l'élève": (person("{last}"), ID),
            "Prénom": (person("{first}"), ID),
            "Date de naissance": (day("%d/%m/%Y", 2005, 2012), DATE),
            "Sexe": (one_of("F", "G"), VALUE),
            "Commune": (one_of("Lyon", "Bron", "Vaulx"), VALUE),
            "Classe": (one_of("6A", "6B", "5A", "5B"), VALUE),
            "Boursier": (one_of("oui", "non"), ("SD", "")),
            "Profession du père": (one_of("ouvrier", "cadre"), WORD),
            "PAI (allergies)": (one_of("oui", "non"), SECRET),
            "Moyenne générale": (decimal(12, 2, "."), SECRET),
            "Absences": (count(30), SECRET),
            "Exclusions": (count(3), SECRET),
            "Langue maternelle": (one_of("français", "arabe", "turc"), VALUE),
            "Religion": (one_of("a", "b", "c"), SECRET),
            "Email responsable": (email, ID),
            "Appréciation": (sentence, TEXT),
            "leeftijd": (whole(10, 17), WORD),
            "geboorteland": (one_of("NL", "MA", "TR"), READY),
            "ziekteverzuim": (count(20), SECRET),
            "opmerkingen": (sentence, TEXT),
            "leeftijdsgroep": (one_of("10-12", "13-15", "16-17"), BANDS),
        },
        seed=46,
    )  # fmt: skip


def sus() -> Made:
    """Admissions to Brazilian hospitals."""
    return made(
        {
            "num_aih": (row(3521000), ID),
            "cartao_sus": (repeated(700000000, 700), ID),
            "nome_paciente": (Of("cartao_sus", person("{first} {last}")), ID),
            "dt_nasc": (Of("cartao_sus", day("%Y-%m-%d")), DATE),
            "sexo": (Of("cartao_sus", one_of("M", "F")), VALUE),
            "raca_cor": (Of("cartao_sus", one_of("branca", "parda", "preta")), VALUE),
            "munic_resid": (one_of("Campinas", "Santos", "Osasco"), ("QD", "suppression")),
            "cep": (shaped("13099-99"), ("QI", "")),
            "dt_internacao": (day("%Y-%m-%d", 2022, 2022), DATE),
            "cid_principal": (one_of("I10.0", "E11.9", "J18.9", "A90.0", "K35.8"), SECRET),
            "valor_total": (decimal(1500, 400, digits=2), ("SD", "")),
            "dias_uti": (count(15), ("SD", "")),
            "obito": (one_of(0, 1, weights=[9, 1]), SECRET),
            "medico_resp": (person("Dr. {last}"), ID),
            "escolaridade": (one_of("fundamental", "médio", "superior"), VALUE),
            "estado_civil": (one_of("casado", "solteiro", "viúvo"), VALUE),
            "religiao": (one_of("católica", "evangélica", "nenhuma"), SECRET),
        },
        seed=47,
    )  # fmt: skip


def heart() -> Made:
    """A trial of the heart with terse names."""
    return made(
        {
            "subj": (row(1), ID),
            "age_yrs": (whole(29, 77), WORD),
            "sexM": (one_of(0, 1), ("QD", "suppression")),
            "cp_type": (one_of(1, 2, 3, 4), ("SQD", "")),
            "trestbps": (whole(94, 200), ("SD", "")),
            "chol": (whole(126, 400), ("SD", "")),
            "fbs": (one_of(0, 1), ("SD", "")),
            "smoker": (one_of("yes", "no"), SECRET),
            "num_vessels": (whole(0, 3), ("SD", "")),
            "diagnosis": (one_of(0, 1, 2), SECRET),
            "hospital": (one_of("Cleveland", "Zurich", "Basel"), VALUE),
            "visit_dt": (day("%d-%b-%Y", 2019, 2020), DATE),
            "physician_notes": (sentence, TEXT),
            "mrn": (shaped("9999999"), ID),
            "emergency_contact": (shaped("+41 79 999 99 99"), ID),
            "ecg1": (decimal(1, 0.3, digits=3), ("SD", "")),
            "ecg2": (decimal(1, 0.3, digits=3), ("SD", "")),
            "ecg3": (decimal(1, 0.3, digits=3), ("SD", "")),
        },
        seed=48,
    )  # fmt: skip


def payroll() -> Made:
    """Employees of a French company."""
    return made(
        {
            "Matricule": (shaped("E99999"), ID),
            "Nom": (person("{last}"), ID),
            "Civilité": (one_of("M.", "Mme"), VALUE),
            "Date naiss.": (day("%d/%m/%Y", 1960, 2000), DATE),
            "Nationalité": (one_of("FR", "PT", "MA"), READY),
            "Date d'embauche": (day("%d/%m/%Y", 1995, 2022), DATE),
            "Service": (one_of("RH", "Compta", "Logistique"), ("QD", "suppression")),
            "Poste": (one_of("cadre", "technicien", "ouvrier"), VALUE),
            "Temps de travail": (one_of("100%", "80%", "50%"), WORD),
            "Salaire brut annuel": (whole(21000, 90000), SECRET),
            "Prime": (whole(0, 6000), ("SD", "")),
            "Jours de maladie": (count(30), SECRET),
            "Syndiqué": (one_of("oui", "non"), SECRET),
            "RQTH": (one_of("oui", "non"), UNKNOWN),
            "Évaluation": (one_of("A", "B", "C", "D"), SECRET),
            "Ville": (one_of("Lille", "Roubaix", "Lens"), VALUE),
            "Courriel": (email, ID),
            "Supérieur": (person("{first} {last}"), ID),
        },
        delimiter=";",
        encoding="cp1252",
        seed=49,
    )  # fmt: skip


def municipality() -> Made:
    """Residents of a Dutch town who get support."""
    return made(
        {
            "clientnr": (row(200), ID),
            "geboortedatum": (day("%d-%m-%Y"), DATE),
            "geslacht": (one_of("man", "vrouw"), VALUE),
            "postcode": (shaped("3999 AA"), CODE),
            "wijk": (one_of("Noord", "Zuid", "Centrum"), ("QD", "suppression")),
            "gezinssamenstelling": (one_of("alleen", "paar", "gezin"), ("QD", "suppression")),
            "nationaliteit": (one_of("NL", "TR", "SY"), READY),
            "uitkering": (one_of("bijstand", "WW", "geen"), ("SD", "")),
            "schulden": (whole(0, 40000), SECRET),
            "diagnose_ggz": (one_of("depressie", "angst", "geen"), SECRET),
            "inkomen": (whole(900, 4000), SECRET),
            "opleiding": (one_of("laag", "midden", "hoog"), ("Q", "")),
            "tevredenheid": (whole(1, 5), SECRET),
            "contactpersoon": (person("{first} {last}"), ID),
            "toelichting": (sentence, TEXT),
            "vraag1": (one_of(1, 2, 3, 4, 5), SECRET),
            "vraag2": (one_of(1, 2, 3, 4, 5), SECRET),
            "vraag3": (one_of(1, 2, 3, 4, 5), SECRET),
            "vraag4": (one_of(1, 2, 3, 4, 5), SECRET),
        },
        seed=50,
    )  # fmt: skip


TABLES = (
    *(emergencies, job_centre, tribunal, panel, riders, pupils),
    *(sus, heart, payroll, municipality),
)
