"""Patterns of values that identify a person: addresses, numbers with check digits, names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, pairwise
from unicodedata import normalize

import pyarrow as pa
import pyarrow.compute as pc

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SIGNS = re.compile(r"[\W_]+|(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])")


def folded(name: str) -> str:
    """A name in lower case without accents, with a space between words written together: patientId."""
    plain = _CAMEL.sub(" ", name).replace("ß", "ss")
    plain = "".join(sign for sign in normalize("NFKD", plain) if not "\u0300" <= sign <= "\u036f")
    return plain.lower()


def words_of(name: str) -> str:
    """The words of a column's name, folded: patientId, PATIENT-ID and patient_id are "patient id".

    Examples
    --------
    >>> words_of("GrößeCm2"), words_of("patientID")
    ('grosse cm 2', 'patient id')
    """
    return " ".join(part for part in _SIGNS.split(folded(name)) if part)


def word_set(text: str) -> frozenset[str]:
    """Words from a text; _ stands for a space within."""
    return frozenset(word.replace("_", " ") for word in text.split())


# Without accents; names that are also months or towns are left out.
GIVEN_NAMES = word_set(
    "aaron abdul abigail adam adele adrian agnes ahmed aidan aisha alan albert alessandro alex alexander "
    "alexandra alfred ali alice alicia alina alma amanda amelia amelie amir amy ana anastasia andre andrea "
    "andreas andrew andrzej angela anita anja anke ann anna anne annette annie antje antoine anton antonio "
    "archie arjun arthur asher astrid audrey ava ayesha barbara beata beatriz bella ben benedikt benjamin bernd "
    "bert beth betty bill billy birgit bob bobby bonnie brandon brenda brian bridget bruno bryan caleb callum "
    "cameron camille carl carla carlos carmen carol caroline carolyn catherine cecile cheryl chiara chloe chris "
    "christian christina christine christopher cindy clara claudia claudio clemens colin connor corinna craig "
    "cristina cynthia daan dan daniel daniela danielle darren dave david deborah debra denise dennis diana diane "
    "diego dieter dirk dmitri dolores donald donna doris dorothy doug douglas dylan edward eleanor elena eleni "
    "elias elif elijah elisabeth elizabeth elke ella ellen ellie elsa emil emilia emily emma emmanuel eric erik "
    "erika erin ernst esther ethan eugene eva evan evelyn evie ezra fabian fatima felix fernando filipe fiona "
    "florian francesca francesco francisco francois frank franz franziska frederic freya friedrich fritz gabriel "
    "gareth gary gemma george gerald gerhard gillian giovanni giulia giuseppe glenn gloria gordon graham greg "
    "gregory greta guillaume gunther gwen hamza hanna hannah hans harriet harry hassan heather hector heidi "
    "heike heinz helen helena helga henri henrik henry herbert hiroshi holger holly howard hugo hussein ian "
    "ibrahim ida imran ines ingrid irene irma isaac isabel isabella isabelle isla ivan ivy jack jackie jacob "
    "jacques jade jake james jamie jan jana jane janet jasmine jason javier jayden jean jeff jeffrey jennifer "
    "jenny jens jeremy jerry jessica jessie jesus jill jim jimmy joan joanna joanne joao joe joel johann johanna "
    "johannes john jon jonas jonathan jorg jorge jose josef joseph josh joshua joyce juan juana judith judy "
    "julia julian julie julius jurgen justin karen karim karin karl karl-heinz kate katharina katherine kathleen "
    "kathryn katie katrin keith kelly ken kenji kenneth kevin khalid kimberly kirsten klaus kurt kyle larry lars "
    "laura lauren lea lena leo leon leonard leonie leslie lewis liam lily linda linus lisa lola lorenzo lori "
    "lorraine louis louise luca lucas lucia lucie lucy ludovic luis luisa lukas luke lydia magdalena maja "
    "malcolm manfred manuel manuela marc marcel marco marcus maren margaret margarete maria mariam marian "
    "marianne marie marilyn marina mario marion mark markus marlene marlon marta martin martina marvin mary "
    "mateo mathilda matilda matteo matthew matthias maureen max maximilian maya megan mehmet melanie melissa "
    "meryem mia michael michel michele miguel mike mohamed mohammad mohammed monica monika monique moritz "
    "muhammad mustafa nadine nancy naomi natalia natalie natasha nathalie nathan neil nick nicolas nicole nigel "
    "nikolai nils nina noah norbert olaf olga oliver olivia olivier omar oscar oskar otto owen pablo pamela "
    "paola patrice patricia patrick paul paula pauline paulo pedro peggy penelope peter petra phil philip "
    "philipp philippe phoebe phyllis pia pierre piotr priya rachel rafael rahul ralf ralph raquel raul raymond "
    "rebecca reinhard renate rhys ricardo richard rita rob robert roberto robin rodrigo roger roland ron ronald "
    "rory rosa rosie ruby rudolf russell ruth ryan sabine sally salvatore sam samuel sandra sanjay sara sarah "
    "sascha scarlett sean sebastian sergio shannon sharon shaun sheila shirley siegfried silke silvia simon "
    "simone sofia sonia sonja sophia sophie soren stan stefan stefanie stefano stella stephanie stephen steve "
    "steven stuart sue sunita susan susana susanne susie sven sylvie tamara tanja ted teresa terry theo theresa "
    "thierry thomas thorsten tiago tiffany tim timothy tina tobias todd tom tomas tony tracy trevor ulrich "
    "ulrike ursula ute uwe valentina vanessa vera veronique victor victoria vincent vladimir volker walter "
    "waltraud wanda wendy werner wilhelm william wojciech wolfgang xavier yasmin yuki yuri yusuf yvonne zachary "
    "zara zeynep zoe "
)


SOME = 0.5  # share of values that must fit a pattern
LEAST_WORDS = 4  # of a text that may name a person
STRICT = 0.9  # the same for patterns that other numbers match by chance


@dataclass(frozen=True)
class Pattern:
    """A pattern that values may have."""

    plain: str  # in the plural, for a message
    regex: str  # of the whole value, in Arrow's dialect
    holds: Callable[[str], bool] | None = None  # a check beyond the pattern, such as check digits
    share: float = SOME
    inside: str = ""  # a part of a longer text that also identifies
    name: re.Pattern[str] | None = None  # the column's name must have such a word


def _digits(text: str) -> list[int]:
    return [int(sign) for sign in text if sign.isdigit() and sign.isascii()]


def _is_iban(text: str) -> bool:
    """ISO 13616: the number made of the letters and digits leaves 1 when divided by 97."""
    plain = re.sub(r"\s", "", text).upper()
    number = "".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])
    return int(number) % 97 == 1


def _is_card(text: str) -> bool:
    """The check digit of payment cards (Luhn)."""
    digits = _digits(text)[::-1]
    total = sum(digits[::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return len(set(digits)) > 1 and total % 10 == 0


def _is_dni(text: str) -> bool:
    """The letter of Spanish DNI and NIE: the number modulo 23."""
    plain = text.upper().replace("-", "")
    number = int(plain[:-1].translate(str.maketrans("XYZ", "012")))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == plain[-1]


def _is_nir(text: str) -> bool:
    """The key of a French NIR: 97 minus the number modulo 97; Corsica's 2A and 2B count as 19 and 18."""
    plain = re.sub(r"\s", "", text).upper().replace("2A", "19").replace("2B", "18")
    return 97 - int(plain[:13]) % 97 == int(plain[13:])


def _is_bsn(text: str) -> bool:
    """The Dutch test of eleven: weights 9 to 2, and −1 for the last digit."""
    digits, weights = _digits(text), (*range(9, 1, -1), -1)
    total = sum(digit * weight for digit, weight in zip(digits, weights, strict=True))
    return total % 11 == 0 and any(digits)


def _is_cpf(text: str) -> bool:
    """The two check digits of a Brazilian CPF."""
    digits = _digits(text)
    for size in (9, 10):
        total = sum(d * w for d, w in zip(digits[:size], range(size + 1, 1, -1), strict=True))
        if total * 10 % 11 % 10 != digits[size]:
            return False
    return True


def _is_german_tax_number(text: str) -> bool:
    """The check digit of a German tax number (ISO 7064, modulo 11, 10)."""
    *digits, check = _digits(text)
    product = 10
    for digit in digits:
        total = (digit + product) % 10 or 10
        product = total * 2 % 11
    return (11 - product) % 10 == check


def _is_kvnr(text: str) -> bool:
    """The check digit of a German health insurance number: the letter counts as two digits."""
    digits = [*divmod(ord(text[0]) - ord("A") + 1, 10), *_digits(text[1:])]
    total = sum(sum(divmod(d * w, 10)) for d, w in zip(digits[:-1], cycle((1, 2)), strict=False))
    return total % 10 == digits[-1]


_PHONE = r"\+[1-9][0-9 ()/.\-]{6,18}[0-9]"
_EMAIL = r"[A-Za-z0-9._%+\-]+@[A-Za-z0-9.\-]+\.[A-Za-z]{2,}"
_IBAN = r"[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,3})?"
_NUMBER_NAMES = re.compile(r"\b(bsn|burger|sofi|cpf|steuer|tax|tin|card|karte|carte|pan)")

PATTERNS = (
    Pattern("e-mail addresses", _EMAIL, inside=_EMAIL),
    Pattern("web addresses", r"(https?://|www\.)\S+", inside=r"https?://\S+"),
    Pattern("UUIDs", r"\{?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?"),
    Pattern("IBANs with valid check digits", _IBAN, _is_iban),
    Pattern("US social security numbers", r"[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}"),
    Pattern("British national insurance numbers", r"[A-CEGHJ-PR-TW-Z]{2} ?([0-9]{2} ?){3}[A-D]"),
    Pattern("Italian tax codes", r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]"),
    Pattern(
        "Spanish identity numbers with valid letters", r"[0-9XYZxyz][0-9]{7}-?[A-Za-z]", _is_dni
    ),
    Pattern(
        "French social security numbers with valid keys",
        r"[12] ?[0-9]{2} ?[0-9]{2} ?([0-9]{2}|2[AB]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}",
        _is_nir,
    ),
    Pattern(
        "German health insurance numbers with valid check digits",
        r"[A-Z][0-9]{9}",
        _is_kvnr,
        STRICT,
    ),
    Pattern(
        "German social insurance numbers",
        r"[0-9]{2} ?(0[1-9]|[1-8][0-9])[01][0-9][0-9]{2} ?[A-Z] ?[0-9]{3}|"
        r"[0-9]{2} ?[0-3][0-9][01][0-9][0-9]{2} ?[A-Z] ?[0-9]{3}",
    ),
    Pattern("Dutch BSNs that pass the check", r"[0-9]{9}", _is_bsn, STRICT, name=_NUMBER_NAMES),
    Pattern(
        "Brazilian CPFs with valid check digits", r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", _is_cpf
    ),
    Pattern(
        "German tax numbers with valid check digits",
        r"[1-9][0-9]{10}",
        _is_german_tax_number,
        STRICT,
        name=_NUMBER_NAMES,
    ),
    Pattern(
        "payment card numbers with valid check digits",
        r"[3-6][0-9]{3}([ \-]?[0-9]{4}){2}[ \-]?[0-9]{1,7}",
        _is_card,
        STRICT,
    ),
    Pattern("telephone numbers", _PHONE, inside=_PHONE),
    Pattern(
        "telephone numbers",
        r"\(?0?[0-9]{2,5}\)?[ /\-][0-9]{3,4}[ \-][0-9]{3,5}|\(?0[0-9]{2,5}\)?[ /\-][0-9]{4,9}|"
        r"00[1-9][0-9]{0,3}[ /\-][0-9 ()/.\-]{5,15}",
    ),
    Pattern("IP addresses", r"([0-9]{1,3}\.){3}[0-9]{1,3}|([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}"),
    Pattern("hardware addresses", r"([0-9A-Fa-f]{2}[:\-]){5}[0-9A-Fa-f]{2}"),
    Pattern(
        "hashes", r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9A-F]{32}|[0-9A-F]{40}|[0-9A-F]{64}"
    ),
)

# Two or three words with capitals, a comma or a title: Aaaa Aaaa; Aaaa, A.; Dr. Aaaa.
_PERSONS_NAME = (
    r"^((Dr|Prof|Mr|Mrs|Ms|Herr|Frau|Mme|M|Sr|Sra|Sig|Dhr|Mevr)\.? )?"
    r"\p{Lu}[\p{L}'’\-]+(,? (\p{Lu}\.|\p{Lu}[\p{L}'’\-]+|van|von|de|del|della|da|di|la)){1,4}$"
)
_TITLED = r"^(Dr|Prof|Mr|Mrs|Ms|Herr|Frau|Mme|Sra|Dhr|Mevr)\.? \p{Lu}"


def have_given_names(texts: pa.Array) -> bool:
    """Whether most texts are, or contain, a common given name; numbers after a name do not count."""
    some = texts.slice(0, 1000).to_pylist()
    if len(some) < 3:
        return False
    held = sum(any(word in GIVEN_NAMES for word in words_of(text).split()) for text in some)
    return held >= SOME * len(some)


def identifier_pattern(texts: pa.Array, name: str) -> Pattern | None:
    """The first pattern that most of a column's texts match, or an identifying part of a few of them."""
    if not len(texts):
        return None
    for pattern in PATTERNS:
        if pattern.name and not pattern.name.search(name):
            continue
        found = texts.filter(pc.match_substring_regex(texts, rf"^\s*({pattern.regex})\s*$"))
        if len(found) < pattern.share * len(texts):
            continue
        if pattern.holds is None:
            return pattern
        checked = found.to_pylist()[:1000]
        right = sum(pattern.holds(text.strip()) for text in checked)
        if right >= STRICT * len(checked):
            return pattern
    return None


def part_of_texts(texts: pa.Array) -> Pattern | None:
    """A pattern that some text contains: one is enough."""
    for pattern in PATTERNS:
        part = rf"(^|[\s,;:(<])({pattern.inside})($|[\s,;:)>.])"
        if pattern.inside and pc.any(pc.match_substring_regex(texts, part)).as_py():
            return pattern
    return None


def are_names_of_persons(texts: pa.Array) -> bool:
    """Whether most texts have the shape of a person's whole name."""
    return _share(texts, _PERSONS_NAME) >= SOME


def are_titled(texts: pa.Array) -> bool:
    """Whether most texts begin with a title: Dr. Aaaa."""
    return _share(texts, _TITLED) >= SOME


def words_per_text(texts: pa.Array) -> float:
    """The median number of words."""
    if not len(texts):
        return 0.0
    spaces = pc.count_substring_regex(pc.utf8_trim_whitespace(texts), r"\s+")
    return float(pc.quantile(spaces, 0.5)[0].as_py()) + 1


def name_persons(texts: pa.Array) -> bool:
    """Whether some text of several words contains a common given name and a surname: one is enough."""
    return any(_names_a_person(text.split()) for text in texts.to_pylist())


def _names_a_person(words: list[str]) -> bool:
    if len(words) < LEAST_WORDS:
        return False
    return any(
        one[:1].isupper() and other[:1].isupper() and words_of(one) in GIVEN_NAMES
        for one, other in pairwise(words)
    )


def _share(texts: pa.Array, regex: str) -> float:
    if not len(texts):
        return 0.0
    return float(pc.sum(pc.match_substring_regex(texts, regex)).as_py() or 0) / len(texts)
