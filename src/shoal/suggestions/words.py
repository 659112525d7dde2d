"""Words in column names, with their roles, in English, German, French, Spanish, Italian, Dutch and Portuguese.

A word decides only together with a column's values; see `meaning`. How words are written is said in `concepts`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from shoal.risk.patterns import word_set, words_of
from shoal.suggestions.findings import (
    Concept,
    abbreviations,
    concept,
    first_concept,
    split_known_words,
)

__all__ = ["Concept", "first_concept", "names_in_words", "word_set", "words_of"]

# Identifiers: a word is enough.
PERSON_NAME = concept(
    "people's names",
    "name names surname forename lastname firstname fullname initials maiden nachname vorname familienname nom "
    "prenom patronyme apellido nombre nombres cognome nome achternaam voornaam naam sobrenome apelido nazwisko "
    "imie",
    "first last given family middle first_middle last_first",
)
CONTACT = concept(
    "contact details",
    "email mail phone telephone telefon telefono telefone telefoon tel handy =mobile =mobil movil celular "
    "cellulare fax telefax address adresse anschrift strasse street hausnummer direccion domicilio indirizzo "
    "endereco adres straat twitter facebook instagram whatsapp skype",
)
OFFICIAL = concept(
    "an official identification number",
    "ssn nin nino nhs nir dni nie nif cpf bsn mrn kvnr svnr ahv passport reisepass passeport pasaporte "
    "passaporto paspoort steuernummer steuer_id sozialversicherung versichertennummer versicherungsnummer "
    "codice_fiscale codicefiscale iban kontonummer =account konto kennzeichen license_plate =plate numberplate "
    "vin imei driver_license fuhrerschein rijbewijs burgerservicenummer seguridad_social securite_sociale",
)
# What makes a name the name of a thing: drug_name, hospital name, nom_commune.
THING = concept(
    "the name of a thing",
    "hospital clinic klinik krankenhaus ward station abteilung department dept drug medication medicine "
    "medikament product produkt produit producto country land city town stadt gemeinde ort =state county region "
    "=school schule ecole company firma employer variable test course study site center centre event brand "
    "species gene occupation job plan program diagnosis disease procedure unit category =class type group "
    "commune comune municipio provincia room zimmer item device survey question",
)
# Words that make a column an identifier where its values differ from record to record.
NUMBER_OF = re.compile(
    r"^(num|number|no|nr|nb|n|anzahl|nombre|numero|anz|count)( of| de| di| van)? \w|anzahl|\bcount\b|"
    r"\b(nombre|numero|numero total) de\b"
)
IDENTIFIER = concept(
    "an ID of a person or record",
    "id ids key uuid guid token hash ip url uri pid rid uid identifier identif kennung kennnummer nummer number "
    "nr nbr num numero matricule matricola aktenzeichen dossier rowid caseid userid username login cookie "
    "=session =record barcode serial iccid",
    "no index row seq sequence case nhsno unnamed unnamed_0 column_1 record",
)
PERSON = concept(
    "a person",
    "patient pat person pers subject participant respondent customer client member employee =student pupil kunde "
    "versicherte proband mitarbeiter schuler paciente paziente sujet sujeto soggetto participante cliente "
    "empleado dipendente household haushalt user allocataire assure beneficiaire inmate defendant",
)
OTHER_PERSON = concept(
    "another person, such as a doctor",
    "physician doctor arzt arztin medecin =medico dokter huisarts attending =nurse surgeon officer =judge "
    "attorney teacher lehrer guardian caseworker sachbearbeiter interviewer manager supervisor vorgesetzte* "
    "=agent vermittler berater",
)
FREE_TEXT = concept(
    "free text",
    "note notes comment remark text freetext freitext bemerkung kommentar anmerkung notiz commentaire remarque "
    "observacion comentario nota osservazion commento opmerking toelichting observacao observacoes anamnes "
    "narrative verbatim desc summary abstract description beschreibung message =letter arztbrief anmerk",
)
OPEN_ANSWER = concept(
    "an open answer", "=other =others sonstige* =autre =autres =otro =otros =altro =specify =txt"
)
WRITTEN = concept(
    "when the record was written",
    "created updated modified inserted submitted timestamp recorded loaded imported erstellt geandert "
    "interview_start interview_end start_time end_time starttime endtime completed",
    "startdate enddate start_date end_date",
)
WEIGHT = re.compile(r"(weights?|wghts?|wgts?|\bwts?|gewicht\w*|\bpoids|\bpeso|\bpondera\w*)\b")
SURVEY_WEIGHT = re.compile(
    r"\b(fnlwgt|wgt|wt|pweight|hweight|weighting|gewichtung\w*|hochrechnung\w*|pondera\w+|factor elevacion|"
    r"factor expansion|fattore espansione)\b|"
    r"\b(instance|sampling|sample|survey|final|design|person|household|replicate|stat)\w* (weight|wt|wgt)s?\b|"
    r"\b(weight|wt|wgt) (final|design|sample|person|household)\b"
)

# Quasi-identifiers: what neighbours, colleagues and registers know. The first are nearly always asked for.
BIRTH = concept(
    "birth",
    "birth born dob yob bday geburt geboren geb gebdat naissance =ne =nee nacimiento nascita nascimento geboorte "
    "birthyr brn gebjahr",
)
AGE = concept(
    "age", "age ages =alter edad eta =idade leeftijd lebensalter altersgruppe agegroup =tranche_age"
)
SEX = concept(
    "sex", "sex gender gndr geschl* sexe =genre sexo genero sesso genere geslacht anrede civilite"
)
PLACE = concept(
    "a place",
    "zip zipcode postcode postal plz postleitzahl cap cep postnummer city town village municipality county "
    "district region =state province country cntry residence fips ort wohnort stadt gemeinde kreis landkreis "
    "bundesland land ville commune departement pays ciudad municipio provincia pais localidad comune citta "
    "regione paese residenza stad gemeente woonplaats provincie =cidade concelho distrito =estado freguesia lat "
    "latitude longitude lon lng =tract neighborhood neighbourhood msa borough constituency canton kanton "
    "statenum cp =place =location "
    "=live =lives wohnen urb urban rur rural urbanicity lsoa msoa nuts wahlkreis metro",
)
COUNTRY = re.compile(
    r"\b(countr(y|ies)|cntry|nation\w*|citizen\w*|pays|pais|paese|land|herkunftsland|geburtsland|geboorteland|"
    r"staatsang\w*|birthplace)\b"
)
ACTIVITY = re.compile(r"\b(nace|wz2008|wz 2008)\b")
DIAGNOSIS = re.compile(r"\b(icd\w*|diag\w*|dx\w*)\b")
RACE = concept("ethnic origin", "race ethnic eth ethnie raza raca etnia hispanic")
ORIGIN = concept(
    "nationality or language",
    "herkunft nationality nationalitat staatsang* nationalite nacionalidad nazionalita cittadinanza "
    "nationaliteit nacionalidade citizen migration sprache muttersprache language langue idioma lingua taal "
    "=native immigrant =origin =foreign",
)
CORE = (BIRTH, AGE, SEX, PLACE, RACE, ORIGIN)
SCHOOL = concept(
    "education",
    "education bildung schulabschluss abschluss ausbildung diplome etudes educacion estudios istruzione titolo "
    "opleiding escolaridade educacao =school schule ecole escuela scuola colegio schooling degree =student "
    "enrolled edu educ* klasse schulklasse schulform jahrgang jahrgangsstufe =classe nc_year school_year year_group "
    "reg_group registration_group tutor_group form_group classroom college studi* curso",
)
WORK = concept(
    "work",
    "occup* ocup* occ job profession profess* beruf tatigkeit profesion occupazione beroep profissao "
    "industry branche employer arbeitgeber workclass worker employment beschaft* emploi empleo "
    "impiego working =position work arbeit travail trabajo lavoro werk trabalho rank =title department dept "
    "abteilung abt hours worked employed fte csp pcs funktion =fonction =funcion =funzione mansione =puesto =cargo "
    "=poste employ* teilzeit vollzeit parttime fulltime emp =business commut* "
    "part_time full_time company unternehmen entreprise "
    "empresa azienda =laboral =lavorativa seniority tenure hired overtime",
)
MARITAL = concept(
    "marital status",
    "marital marriage married marr marstat familienstand zivilstand famstand familiale matrimonial etat_civil "
    "estado_civil stato_civile burgerlijke civilstand",
)
PARENT = concept(
    "parents",
    "mother father =parent =parents mutter vater mere pere madre padre moeder vader =mae =pai",
)
HOUSEHOLD = concept(
    "family and household",
    "household haushalt menage hogar famiglia huishouden agregado children child kinder enfants hijos figli "
    "kinderen filhos kid kids siblings spouse relationship family fam dependents dependants tenure housing =house "
    "hh a_charge a_cargo a_carico home_ownership homeowner =partner",
)
CARE = concept(
    "a hospital, ward or branch",
    "ward =station site hospital hosp clinic klinik krankenhaus reparto =sede filiale agence branch centre =center "
    "etablissement ospedale hopital",
)
INSURER = concept(
    "insurance",
    "insur* =ins insurer payer payor krankenkasse =kasse versicherung kostentrager mutuelle assurance "
    "assicuraz* seguro aseguradora verzekeraar medicare medicaid coverage =plan krankenversicherung",
)
BODY = concept(
    "a visible trait",
    "height =grosse groesse korpergrosse =taille =talla altezza lengte altura weight gewicht poids peso eye "
    "hair veteran military vehicle car haarfarbe augenfarbe",
)
OUTSIDERS_KNOW = (SCHOOL, WORK, MARITAL, HOUSEHOLD, INSURER, CARE, BODY, PARENT)

# Words for one value of a quasi-identifier, which name a column of yes and no: male, black, marr.
_KINDS = {
    SEX: "male female man woman mannlich weiblich homme femme hombre mujer maschio femmina",
    RACE: "black white nonwhite asian hispan hispanic latino latina",
    PLACE: "urban rural smsa south north west east northeast northcen south southern",
    MARITAL: "marr married single divorced widowed unmarried verheiratet ledig marie casado sposato",
    HOUSEHOLD: "kids kid children child dependent dependents",
    ORIGIN: "foreign immigrant citizen native auslander",
    AGE: "senior minor adult",
}
DUMMIES = tuple((meant, word_set(kinds)) for meant, kinds in _KINDS.items())

# Sensitive: what must not be learned about a person.
HEALTH = concept(
    "health",
    "diagnos =diag hypert* =stroke infarct disease illness ill krank krankheit malad* enfermedad malattia "
    "ziekte doenca patholog* patolog* erkrank* dolencia symptom sintoma =condition conditions therap treatment "
    "behandlung traitement tratamiento trattamento tratamento medication medikament drug medicament medicamento "
    "farmaco dose dosis icd cpt hcpcs drg atc ops snomed loinc hiv aids cancer krebs tumor tumour outcome result "
    "ergebnis befund blood blut bmi glucose glukose cholesterol hba* laborwert =lab labor_wert adverse =ae "
    "allerg* pressure blutdruck pulse puls creatinin kreatinin hemoglobin hamoglobin serum hdl ldl crp "
    "severity injury verletzung blessure lesion disab* behinder* handicap* discapac* invalid* pregnan schwanger "
    "gravid* =mental depress anxiety addict alcohol alkohol smok* rauch* raucher fumeur fumador fumatore tobacco "
    "health gesundheit =sante salud salute saude dead death died mortality gestorben verstorben deces muerte morte "
    "overleden obito surviv* suicid fever fieber temperatur* =tension tensione "
    "vaccin impf* genetic mutation biopsy surgery "
    "procedure =operation contracept readmi* discharge entlassart entlassungsart admission_type aufnahmeart "
    "expire_flag specialty fachabteilung comorbid charlson hospitali* krankheitstage fehltage sickness "
    "asthma diabet* bi_rads o2_sat a1c* insulin time_in_hospital inpatient outpatient",
)
MONEY = concept(
    "money",
    "income inc einkommen salary gehalt lohn wage wages revenu salaire ingreso ingresos sueldo salario reddito "
    "stipendio inkomen loon rendimento renda earnings =earns debt schuld schulden dette deuda debito divida credit "
    "kredit loan balance bal bill billing payment pay amount amnt amt betrag montant importe importo bedrag default "
    "=pension =rente tax =steuer charges cost kosten cout coste costo =custo =price gain loss losses dividend "
    "capital turnover revenue spend* premium kaution =limit bonus beitrag schaden* pramie fare =rent miete =loyer "
    "affitto alquiler mortgage dti delinq* int_rate interest daily_rate hourly_rate monthly_rate stock_option",
)
BENEFIT = concept(
    "benefits and special needs",
    "benefit benefits prestation prestations sozialhilfe sozialleistung wohngeld burgergeld hartz alg leistung* "
    "allocation =aide subsidio sussidio =ayuda welfare food_stamp* fsm free_school_meals free_meals sen send "
    "special_needs ehcp pupil_premium forderbedarf bafog unemploy* arbeitslosengeld chomage tax_filer",
)
BELIEF = concept(
    "belief and politics",
    "relig* konfess* godsdienst glaube faith church kirche partei vote voting voted wahl wahlt voto politi* "
    "gewerkschaft sindicat* sindacat* syndic* labor_union trade_union =union opinion attitude =trust meinung "
    "ideolog* =credo =culte partido partito",
    "party",
)
JUSTICE = concept(
    "crime and court",
    "crime criminal offense offence recid* convict* straftat strafe vorstrafe* delikt delit delito =reato misdrijf "
    "felony misdemean* violent violence abuse sentence =prior =priors juv verdict =court gericht tribunal tribunale "
    "juzgado urteil condanna condamnation condena arrest arrested jail prison haft gefangnis =bail penal infraction "
    "charge_degree charge_desc charge_offense c_charge r_charge victim =opfer is_recid anklage imputazione acusacion",
)
INTIMATE = concept(
    "intimate life",
    "sexual orientation partners partner_count sexuell sexuelle sexualite affair affairs",
)
JUDGED = concept(
    "a judgement about a person",
    "score decile risk rating note_moyenne =grade =grades satisf* zufrieden* "
    "soddisf* tevreden* csat nps performance perf engagement evaluation "
    "bewertung mark marks maths math ks =gcse =sat attendance absence* absent* absences fehlzeit* exclusion* "
    "suspension* detention zeugnis noten moyenne calificacion pagella anwesenheit assiduite =presenze attrition "
    "termd term_reason days_late",
)
DEED = concept(
    "what a person did, used or asked for",
    "poi =venue dwell activity aktivitat purchase bought purpose topic complaint churn contract internet streaming "
    "phone_service multiple_lines paperless payment_method campaign leisure sleep hobby anliegen motif "
    "motivo =thema =tarif subscription abonnement",
)
SENSITIVE = (HEALTH, MONEY, BENEFIT, BELIEF, JUSTICE, INTIMATE, JUDGED, DEED)
# What numbered columns are called that hold answers to the questions of a survey.
ANSWER = concept(
    "answers to questions",
    "=q item items question frage answer answers resp response antwort reponse pregunta domanda vraag itm qn",
)

# How numbers are meant.
# Words for latitude and longitude, and what else a name must contain if they also mean something else.
ANYTHING = ""
_GEO = r"\b(geo\w*|gps|coord\w*|koord\w*|wgs\w*)\b"
LATITUDE_LONGITUDE = (
    ("lat|latitude|latitud|latitudine", "lon|lng|long|longitude|longitud|longitudine", ANYTHING),
    (
        "breite|breitengrad|geobreite|breedtegraad",
        "lange|laenge|langengrad|laengengrad|geolange|lengtegraad",
        ANYTHING,
    ),
    ("y", "x", _GEO),
)
COORDINATE = re.compile(r"\b(lat|lon|lng|latitude|longitude|coordinates?)\b")
QUANTITY = re.compile(
    r"\b(age|alter|edad|eta|idade|leeftijd|count|number|num|nb|anzahl|numero|hours?|weeks?|days?|months?|years?|"
    r"stunden|tage|jahre|jahr|heures|jours|ans|dias|horas|size|amount|amt|income|weight|height|score|rate|percent|"
    r"kinder|children|kids|enfants|hijos|figli|kinderen|filhos|visits?|persons?|members?|per|length|duration|"
    r"dose|bmi|gain|loss|price|cost|los|n)\b|anzahl|kinderzahl"
)
CODE = re.compile(
    r"\b(zip|zipcode|postcode|postal|plz|postleitzahl|cap|cep|fips|code|codes|recode|icd|type|typ|class|category|cat|"
    r"kategorie|status|ward|id|nr|key|region|state|county|msa|tract|statenum|flag|kennziffer|schlussel)\b|code"
)
YEAR = re.compile(r"\b(years?|yr|jahr|annee|ano|anno|jaar)$")
MONTH = re.compile(r"\b(month|mon|monat|mois|mes|mese|maand)$")
DAY = re.compile(r"\b(day|tag|jour|dia|giorno|dag)$")

_MEANINGS = (*CORE, *OUTSIDERS_KNOW, *SENSITIVE)
_PERSONS = (PERSON_NAME, PERSON, OTHER_PERSON)
_JOINED = word_set(
    "grp group cat code cd band range class num nr yr yrs year lvl level stat status size type desc id dt date flag "
    "score idx tot total avg hr hrs priv rate num dob inc sq mon month day"
)  # what is written together with words of a concept: agegrp, yrsmarr


def names_in_words(names: Sequence[str]) -> dict[str, str]:
    """The words of all column names, with those they join or abbreviate: agegrp is also age and grp.

    If all begin with the same letter or two, they are read without these as well: iage, isex.
    """
    signs = enumerate(zip(*names, strict=False))
    shared = next((place for place, sign in signs if len(set(sign)) > 1), 0)
    if len(names) < 3 or not 0 < shared <= 2:
        return {name: _in_words(name) for name in names}
    return {name: f"{_in_words(name)} {_in_words(name[shared:])}".strip() for name in names}


def _in_words(name: str) -> str:
    plain = words_of(name)
    joined = [word for part in plain.split() for word in split_known_words(part, _vocabulary())]
    spelled_out = [_spelled_out(part) for part in abbreviations(name)]
    return " ".join(part for part in (plain, *joined, *spelled_out) if part)


def _spelled_out(part: str) -> str:
    """What an abbreviation stands for, if its letters begin the words of one concept only: Geschl. is Geschlecht."""
    longer = {
        meant.plain: min(word for word in meant.letters if word.startswith(part))
        for meant in (*_MEANINGS, *_PERSONS)
        if any(word.startswith(part) for word in meant.letters)
    }
    return next(iter(longer.values())) if len(longer) == 1 else ""


@cache
def _vocabulary() -> frozenset[str]:
    """Words that may be joined to others in a run of letters."""
    return frozenset().union(_JOINED, *(meant.letters for meant in _MEANINGS))
