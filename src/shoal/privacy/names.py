"""Names as words, and usual given names of several languages."""

from __future__ import annotations

import re
from unicodedata import normalize

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
