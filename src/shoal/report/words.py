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
        "that made it. A release that misses a requirement is neither returned nor written, and has no report.",
    ),
    "loss": (
        "Loss",
        "What the release no longer tells. A cell is released exactly, or as something more general (a range, a "
        "region, a set of values), or hidden completely. The measure named as objective is the one that was made as "
        "small as possible; the others are for comparison, less is better in each. In a column of the table it is the "
        "mean over records, before any weights.",
    ),
    "sizes": (
        "Group sizes",
        "How many groups there are of each size. No bar may stand below k. Many groups far above k mean that many "
        "people are alike anyway, or that details could be kept with smaller groups.",
    ),
    "risk": (
        "Risk",
        "How likely it is to find a person's record by their quasi-identifiers. The prosecutor knows that the person "
        "is in the table: their risk is one in the size of the group. The journalist does not know it and looks for "
        "anyone. The marketer wants to find as many as possible: the risk is the share of records that a best guess "
        "gets right. Before is the original table, after the release; these are risks under the assumption that the "
        "outsider knows all quasi-identifiers exactly and nothing else.",
    ),
    "disclosure": (
        "Learning a sensitive value",
        "Whoever knows that a person is in a group learns what all records of the group have in common, without "
        "finding the person's record. Requirements beyond k, such as diversity, limit this.",
    ),
    "distributions": (
        "Distributions before and after",
        "How often each value occurs in the original table (outline) and how often the release lets one expect it "
        "(filled), if the records of a range or set are spread over its values as evenly as nothing else is known. "
        "The closer both are, the better counts and means of this column can still be trusted. Values that fewer "
        "than k records hold are never shown by themselves, they are counted as other values.",
    ),
    "certificate": (
        "Certificate",
        "The least loss of all releases that keep k cannot be computed for large tables, but a number that no release "
        "can go below can. “At most 1.1 times the optimum” means: whatever method or time is spent, at most a tenth of "
        "the optimum's loss can be saved. It is about loss and k only and says nothing about privacy.",
    ),
    "settings": (
        "Settings",
        "The same table with these settings, the same version and the same hierarchy files gives the same release, "
        "unless refinement was given a number of seconds.",
    ),
}
