"""What columns are called: words for roles in English, German, French, Spanish, Italian, Dutch and Portuguese.

Words are written without accents. A word of fewer than five letters must stand alone in a column's name; a longer
one may also be part of a compound, as in Geburtsdatum or Hauptdiagnose, unless it is marked by "=". A word with "*"
is the beginning of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from unicodedata import normalize

SHORTEST_PART = 5  # letters of a word that may be part of another one
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SIGNS = re.compile(r"[\W_]+|(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])")


@dataclass(frozen=True)
class Concept:
    """Something that columns are about, with all words for it; `plain` is what a reason calls it."""

    plain: str
    words: frozenset[str]
    alone: frozenset[str] = frozenset()  # these count only as the whole name of a column

    def found_in(self, name: str) -> bool:
        """Whether a name, as `words_of` gives it, has a word of this concept."""
        whole, starts, within = self._places
        parts, padded = name.split(), f" {name} "
        return (
            name in self.alone
            or not whole.isdisjoint(parts)
            or any(part.startswith(starts) for part in parts)
            or any(text in padded for text in within)
        )

    @cached_property
    def _places(self) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
        """Words that stand alone, beginnings of words, and texts that may be anywhere, phrases with spaces around."""
        phrases = [word for word in self.words if " " in word]
        single = self.words.difference(phrases)
        starts = tuple(word[:-1] for word in single if word[-1] == "*")
        single -= {f"{start}*" for start in starts}
        whole = {word for word in single if word[0] == "=" or len(word) < SHORTEST_PART}
        parts = (*(f" {phrase} " for phrase in phrases), *(single - whole))
        return frozenset(word.removeprefix("=") for word in whole), starts, parts


def words_of(name: str) -> str:
    """The words of a column's name, folded: patientId, PATIENT-ID and patient_id are "patient id".

    Examples
    --------
    >>> words_of("GrößeCm2"), words_of("patientID")
    ('grosse cm 2', 'patient id')
    """
    plain = _CAMEL.sub(" ", name).replace("ß", "ss")
    plain = "".join(sign for sign in normalize("NFKD", plain) if not "\u0300" <= sign <= "\u036f")
    return " ".join(part for part in _SIGNS.split(plain.lower()) if part)


def names_in_words(names: Sequence[str]) -> dict[str, str]:
    """The words of all column names; if all begin with the same letter or two, also without these: iage, isex."""
    signs = enumerate(zip(*names, strict=False))
    shared = next((place for place, sign in signs if len(set(sign)) > 1), 0)
    if len(names) < 3 or not 0 < shared <= 2:
        return {name: words_of(name) for name in names}
    return {name: f"{words_of(name)} {words_of(name[shared:])}".strip() for name in names}


def first_of(concepts: Iterable[Concept], name: str) -> Concept | None:
    """The first concept that a name, as words, is about."""
    return next((concept for concept in concepts if concept.found_in(name)), None)


def word_set(text: str) -> frozenset[str]:
    """Words from a text; _ stands for a space within."""
    return frozenset(word.replace("_", " ") for word in text.split())


def _concept(plain: str, words: str, alone: str = "") -> Concept:
    return Concept(plain, word_set(words), word_set(alone))


# Identifiers: a word is enough.
PERSON_NAME = _concept(
    "the name of a person",
    "name names surname forename lastname firstname fullname initials maiden nachname vorname familienname nom "
    "prenom patronyme apellido nombre nombres cognome nome achternaam voornaam naam sobrenome apelido nazwisko "
    "imie",
    "first last given family middle first_middle last_first",
)
CONTACT = _concept(
    "how to reach a person",
    "email mail phone telephone telefon telefono telefone telefoon tel handy =mobile =mobil movil celular "
    "cellulare fax telefax address adresse anschrift strasse street hausnummer direccion domicilio indirizzo "
    "endereco adres straat twitter facebook instagram whatsapp skype",
)
OFFICIAL = _concept(
    "an official number of a person",
    "ssn nin nino nhs nir dni nie nif cpf bsn mrn kvnr svnr ahv passport reisepass passeport pasaporte "
    "passaporto paspoort steuernummer steuer_id sozialversicherung versichertennummer versicherungsnummer "
    "codice_fiscale codicefiscale iban kontonummer =account konto kennzeichen license_plate =plate numberplate "
    "vin imei driver_license fuhrerschein rijbewijs burgerservicenummer seguridad_social securite_sociale",
)
# What makes a name the name of a thing: drug_name, hospital name, nom_commune.
THING = _concept(
    "the name of a thing",
    "hospital clinic klinik krankenhaus ward station abteilung department dept drug medication medicine "
    "medikament product produkt produit producto country land city town stadt gemeinde ort =state county region "
    "=school schule ecole company firma employer variable test course study site center centre event brand "
    "species gene occupation job plan program diagnosis disease procedure unit category =class type group "
    "commune comune municipio provincia room zimmer item device survey question",
)
# Words that make a column an identifier where its values differ from record to record.
NUMBER_OF = re.compile(
    r"^(num|number|no|nr|n|anzahl|nombre|numero|anz|count)( of| de| di| van)? \w|anzahl|\bcount\b|"
    r"\b(nombre|numero|numero total) de\b"
)
IDENTIFIER = _concept(
    "a number that stands for a person or record",
    "id ids key uuid guid token hash ip url uri pid rid uid identifier identif kennung kennnummer nummer number "
    "nr nbr num numero matricule matricola aktenzeichen dossier rowid caseid userid username login cookie "
    "=session =record barcode serial iccid",
    "no index row seq sequence case nhsno unnamed unnamed_0 column_1 record",
)
PERSON = _concept(
    "a person",
    "patient person subject participant respondent customer client member employee =student pupil kunde "
    "versicherte proband mitarbeiter schuler paciente paziente sujet sujeto soggetto participante cliente "
    "empleado dipendente household haushalt user",
)
OTHER_PERSON = _concept(
    "another person, as a doctor",
    "physician doctor arzt arztin medecin =medico dokter huisarts attending =nurse surgeon officer =judge "
    "attorney teacher lehrer guardian caseworker sachbearbeiter interviewer",
)
FREE_TEXT = _concept(
    "free text",
    "note notes comment remark text freetext freitext bemerkung kommentar anmerkung notiz commentaire remarque "
    "observacion comentario nota osservazion commento opmerking toelichting observacao observacoes anamnes "
    "narrative verbatim desc summary abstract description beschreibung message =letter arztbrief anmerk",
)
WRITTEN = _concept(
    "when the record was written",
    "created updated modified inserted submitted timestamp recorded loaded imported erstellt geandert",
    "startdate enddate start_date end_date start_time end_time",
)
SURVEY_WEIGHT = re.compile(
    r"\b(fnlwgt|wgt|pweight|hweight|weighting|hochrechnungsfaktor|ponderation|factor elevacion)\b|"
    r"\b(instance|sampling|sample|survey|final|design|person|household|replicate|stat)\w* (weight|wt)s?\b|^weight$"
)

# Quasi-identifiers: what neighbours, colleagues and registers know. The first are nearly always asked for.
BIRTH = _concept(
    "birth",
    "birth born dob yob bday geburt geboren geb gebdat naissance nacimiento nascita nascimento geboorte",
)
AGE = _concept("age", "age ages =alter edad eta idade leeftijd lebensalter altersgruppe agegroup")
SEX = _concept("sex", "sex gender geschlecht sexe =genre sexo genero sesso genere geslacht")
PLACE = _concept(
    "a place",
    "zip zipcode postcode postal plz postleitzahl cap cep postnummer city town village municipality county "
    "district region =state province country residence fips ort wohnort stadt gemeinde kreis landkreis "
    "bundesland land ville commune departement pays ciudad municipio provincia pais localidad comune citta "
    "regione paese residenza stad gemeente woonplaats provincie =cidade concelho distrito =estado freguesia lat "
    "latitude longitude lon lng =tract neighborhood neighbourhood msa borough constituency canton kanton "
    "statenum cp =place =location",
)
RACE = _concept("ethnic origin", "race ethnic ethnie raza raca etnia hispanic")
ORIGIN = _concept(
    "nationality or language",
    "herkunft nationality nationalitat staatsangehorigkeit nationalite nacionalidad nazionalita cittadinanza "
    "nationaliteit nacionalidade citizen migration sprache muttersprache language langue idioma lingua taal "
    "=native immigrant =origin",
)
CORE = (BIRTH, AGE, SEX, PLACE, RACE, ORIGIN)
SCHOOL = _concept(
    "education",
    "education bildung schulabschluss abschluss ausbildung diplome etudes educacion estudios istruzione titolo "
    "opleiding escolaridade educacao =school schooling degree =student enrolled edu educ",
)
WORK = _concept(
    "work",
    "occupation job profession beruf tatigkeit ocupacion profesion professione occupazione beroep profissao "
    "ocupacao industry branche employer arbeitgeber workclass worker employment beschaftigung emploi empleo "
    "impiego working =position work arbeit travail trabajo lavoro werk trabalho rank =title department "
    "abteilung hours worked employed",
)
MARITAL = _concept(
    "marital status",
    "marital marriage married familienstand zivilstand familiale matrimonial etat_civil estado_civil "
    "stato_civile burgerlijke",
)
PARENT = _concept(
    "parents",
    "mother father =parent =parents mutter vater mere pere madre padre moeder vader =mae =pai",
)
HOUSEHOLD = _concept(
    "family and household",
    "household haushalt menage hogar famiglia huishouden agregado children child kinder enfants hijos figli "
    "kinderen filhos kids siblings spouse relationship family dependents dependants tenure housing =house",
)
BODY = _concept(
    "what one sees of a person",
    "height =grosse groesse korpergrosse =taille =talla altezza lengte altura weight gewicht poids peso eye "
    "hair veteran military vehicle car",
)
OUTSIDERS_KNOW = (SCHOOL, WORK, MARITAL, HOUSEHOLD, BODY, PARENT)

# Sensitive: what must not be learned about a person.
HEALTH = _concept(
    "health",
    "diagnos =diag hypert* =stroke infarct disease illness ill krank krankheit maladie enfermedad malattia "
    "ziekte doenca symptom sintoma =condition therap treatment behandlung traitement tratamiento trattamento "
    "tratamento medication medikament drug medicament medicamento farmaco dose dosis icd hiv aids cancer krebs "
    "tumor tumour outcome result ergebnis befund blood blut bmi glucose glukose cholesterol hba* laborwert "
    "pressure blutdruck pulse creatinin kreatinin severity injury verletzung blessure lesion disab* behinder* "
    "handicap discapac pregnan schwanger gravid =mental depress anxiety addict alcohol alkohol smok* rauch* "
    "raucher fumeur fumador fumatore tobacco health gesundheit =sante salud salute saude dead death died "
    "mortality gestorben verstorben deces muerte morte overleden obito suicid fever fieber temperature vaccin "
    "impf* genetic mutation biopsy surgery procedure =operation contracept readmi",
)
MONEY = _concept(
    "money",
    "income einkommen salary gehalt lohn wage revenu salaire ingreso ingresos sueldo salario reddito stipendio "
    "inkomen loon rendimento renda earnings debt schulden dette deuda debito divida credit kredit loan balance "
    "bal bill payment pay amount amt betrag montant importe importo bedrag default =pension =rente tax =steuer "
    "charges cost kosten cout coste costo custo =price gain loss dividend capital turnover revenue benefit "
    "spend premium kaution =limit",
)
BELIEF = _concept(
    "belief and politics",
    "religi* konfession godsdienst glaube faith church kirche partei vote voting wahl voto politic gewerkschaft "
    "sindicat syndic labor_union trade_union =union opinion attitude =trust",
    "party",
)
JUSTICE = _concept(
    "crime and court",
    "crime criminal offense offence =charge recid convict straftat delit delito =reato misdrijf felony "
    "misdemean violent violence abuse sentence =prior =priors juv verdict",
)
INTIMATE = _concept(
    "intimate life", "sexual orientation partners partner_count sexuell sexuelle sexualite"
)
JUDGED = _concept(
    "a judgement of a person", "score decile risk rating note_moyenne =grade =grades satisfaction"
)
SENSITIVE = (HEALTH, MONEY, BELIEF, JUSTICE, INTIMATE, JUDGED)

# How numbers are meant.
COORDINATE = re.compile(r"\b(lat|lon|lng|latitude|longitude|coordinates?)\b")
QUANTITY = re.compile(
    r"\b(age|alter|edad|eta|idade|leeftijd|count|number|num|anzahl|numero|hours?|weeks?|days?|months?|years?|stunden|"
    r"tage|jahre|jahr|heures|jours|ans|dias|horas|size|amount|amt|income|weight|height|score|rate|percent|"
    r"kinder|children|kids|enfants|hijos|figli|kinderen|filhos|visits?|persons?|members?|per|length|duration|"
    r"dose|bmi|gain|loss|price|cost|los|n)\b|anzahl|kinderzahl"
)
CODE = re.compile(
    r"\b(zip|zipcode|postcode|postal|plz|postleitzahl|cap|cep|fips|code|codes|recode|icd|type|typ|class|category|cat|"
    r"kategorie|status|ward|id|nr|key|region|state|county|msa|tract|statenum|flag|kennziffer|schlussel)\b|code"
)
YEAR_MONTH_DAY = re.compile(
    r"\b(years?|month|day|jahr|monat|tag|annee|mois|jour|ano|mes|dia|anno|mese|giorno|mon)$"
)
