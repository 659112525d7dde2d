"""Usual given names in seven languages, without accents; names of months and towns are left out."""

from __future__ import annotations

from shoal.suggesting.concepts import word_set

GIVEN_NAMES = word_set(
    "aaron adam adrian ahmed aisha alan albert alessandro alex alexander alexandra ali alice alicia amanda amelie "
    "amy ana andre andrea andreas andrew angela anita anke ann anna anne antje antoine anton antonio arthur barbara "
    "beatriz ben benjamin bernd birgit bruno carla carlos carmen caroline catherine cecile chiara chloe christian "
    "christina christine christopher clara claudia claudio cristina daan daniel daniela david dennis diana diego "
    "dieter dirk donald dorothy edward elena elisabeth elizabeth elke ella emil emily emma emmanuel erik ernst "
    "esther eva fatima felix fernando filipe florian francesca francesco francisco francois frank franz frederic "
    "gabriel george gerhard giovanni giulia giuseppe greta guillaume hanna hannah hans heike heinz helen helena "
    "helga henrik henry herbert hugo ida ines ingrid isabel isabelle jack jacob jacques james jan jana jane janet "
    "jason javier jean jennifer jens jessica jesus joan joao john jonas jorge jorg jose joseph joshua juan juana "
    "julia julian julie jurgen justin karen karin karl karl-heinz katharina katrin kevin klaus kurt lars laura lea "
    "leon leonie linda lisa lorenzo louis louise luca lucas lucia ludovic luis luisa lukas manfred manuel manuela "
    "marc marco margaret maria marie mario marion mark markus marta martin martina mary mateo matteo matthew max "
    "maximilian mehmet melanie mia michael michel michele miguel mohamed mohammed monica monika monique nadine "
    "nancy natalie nathalie nicolas nicole nina noah olga oliver olivier oscar otto pablo paola patricia patrick "
    "paul paula paulo pedro peter petra philip philipp philippe pierre rachel rafael ralf raquel raul rebecca "
    "renate ricardo richard rita robert roberto rosa ruth sabine salvatore sam samuel sandra sara sarah sebastian "
    "sergio sharon silke silvia simon simone sofia sophie soren stefan stefanie stefano stephanie stephen steven "
    "susan susana susanne sven sylvie tanja teresa thierry thomas tiago tim timothy tobias tom tomas ulrich ursula "
    "ute uwe valentina vanessa vera veronique victor victoria vincent walter werner william wolfgang xavier yusuf "
    "yvonne zoe "
)
