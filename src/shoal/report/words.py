"""The figures of a report explained to someone who never read a paper about them."""

from __future__ import annotations

WORDS = {
    "record": (
        "Record, quasi-identifier, sensitive column",
        "A record is one person's line. Quasi-identifiers are columns that an outsider may know of a person, such as "
        "age or town; they are made less exact until the person cannot be told from others. Sensitive columns hold "
        "what must not be learned about a person; they are released as they are. Identifiers, such as names, are "
        "removed. Which column is what was decided by people and not by the program: a column that an outsider "
        "knows but that is not named as a quasi-identifier is not protected.",
    ),
    "k": (
        "Group and k",
        "A group is a set of released records that read the same in all quasi-identifiers. k is the least number of "
        "records in a group. Someone who knows the quasi-identifiers of a person finds at least k records that fit "
        "and cannot tell which one is the person's.",
    ),
    "audit": (
        "Audit",
        "The proof of the requirements. It counts in the finished release, by code that shares nothing with the code "
        "that made it. Where a requirement is not proved, at least one group misses it: such a table must not be "
        "released. shoal itself neither returns nor writes one.",
    ),
    "kept": (
        "Other columns, and records singled out",
        "Columns that were neither protected nor named as sensitive and are released as they are. A record is singled "
        "out by a column if no other released record has its value, and by several columns if none has the same "
        "combination. Whoever knows these values of a person finds the record, whatever k is.",
    ),
    "loss": (
        "What it cost",
        "What the release no longer tells. A cell is released exactly, or as something more general (a range, a "
        "region, a set of values), or hidden completely. “Half of the values are released within a range of at most "
        "4” means: take any record, and the odds are even or better that the release says its value up to 4. Under "
        "“For experts” the loss is measured; the measure named as objective is the one that was made as small as "
        "possible, and less is better in each.",
    ),
    "sizes": (
        "Group sizes",
        "How many groups there are of each size. No bar may stand below k. Many groups far above k mean that many "
        "people are alike anyway, or that details could be kept with smaller groups.",
    ),
    "risk": (
        "Risk",
        "How likely it is to find a person's record by their quasi-identifiers: one in the number of records that "
        "read the same. Before is the original table, after the release. Shares of the original table are told in "
        "whole percents, and not at all where they would stand for fewer than k people. The literature names the "
        "outsider by what they know: the prosecutor knows that the person is in the table; the journalist does not "
        "and looks for anyone; the marketer wants to find as many as possible. All know the quasi-identifiers exactly "
        "and nothing else.",
    ),
    "disclosure": (
        "Learning a sensitive value",
        "Whoever knows that a person is in a group learns what all records of the group have in common, without "
        "finding the person's record. The base rate is what a guess is worth without the group; “certain” is the share "
        "of records whose group has one value only. Requirements beyond k, such as diversity, limit this.",
    ),
    "distributions": (
        "Distributions",
        "How often each value occurs in the original table (outline) and how often the release lets one expect it "
        "(filled). A range or a period counts for every bar it reaches into, by the length of the overlap; anything "
        "else that may stand for several bars is taken to be like the more exact values of the release. The closer "
        "both are, the better counts and "
        "means of this column can still be trusted. Originals are counted only in bars, joined where necessary, from "
        "which nobody can work out anything about fewer than k people; where no such bars are left, the release is "
        "drawn alone. Sensitive columns are released unchanged and have one distribution. Records that were left out "
        "are counted nowhere.",
    ),
    "certificate": (
        "Certificate",
        "The least loss of all releases that keep what is required cannot be computed for large tables, but a number "
        "that no release can go below can. “At most 1.1 times the optimum” means: whatever method or time is spent, at "
        "most a tenth of the optimum's loss can be saved. It is about loss only and says nothing about privacy.",
    ),
    "settings": (
        "Settings",
        "What the columns are, what they may become and what is required. Where shoal made the release they are all "
        "that decides it: the same table, settings, version and hierarchy files give the same release, unless "
        "refinement was given a number of seconds or values were loosened at random. A release of a series also "
        "depends on its history.",
    ),
}

MEASURES = {
    "lm": "How much of a column a cell may stand for: 0 is exact, 1 is hidden",
    "gcp": "The same, with numbers and dates measured by the width of their range",
    "mi": "Bits of information lost per cell",
    "cm": "Share of records that are hidden or have another sensitive value than most of their group",
    "c_avg": "Mean group size, in multiples of k",
    "dm": "Sum of squared group sizes",
}  # where the catalogue takes more for granted


PROMISE_OF_SERIES = (
    "Over all releases of the series, everybody may have any of at least so many sensitive values, each of them "
    "equally likely."
)


def promise_of_k(k: int, reads_the_same: bool, counts_persons: bool = False) -> str:
    """What k promises, in a sentence."""
    if k == 1:
        return "Nothing: a record may be alone with its quasi-identifiers."
    if counts_persons:
        return (
            f"Every record reads like records of at least {k:,} persons in all quasi-identifiers."
        )
    if reads_the_same:
        others = "1 other" if k == 2 else f"{k - 1:,} others"
        return f"Every record reads like at least {others} in all quasi-identifiers."
    return f"Every released record may be any of at least {k:,} people, and everyone any of as many records."
