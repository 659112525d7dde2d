"""`shoal apply`, which anonymizes new records in the same way as an earlier release."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import WRITTEN, say
from shoal.cli import arguments as a
from shoal.cli.arguments import reading_given, shares_options
from shoal.errors import InputError, counted, raise_problems

if TYPE_CHECKING:
    from shoal.reuse.batch import Batch


@shares_options(reading=reading_given)
def apply(
    *,
    table: a.Table,
    recoding: Annotated[
        Path | None,
        typer.Option(help="File that --save-recoding wrote for an earlier release."),
    ] = None,
    output: a.OutputFile = None,
    batch_k: Annotated[
        int | None,
        typer.Option(
            help="Least number of new records per group (default: k of the earlier release)."
        ),
    ] = None,
    held: Annotated[
        Path | None, typer.Option(help="Records held back from an earlier batch.")
    ] = None,
    regroup: Annotated[
        bool,
        typer.Option(
            "--regroup/--hold",
            help="Group the records that fit no earlier group among themselves, or hold them back.",
        ),
    ] = True,
    save_held: Annotated[
        Path | None, typer.Option(help="File for records that are held back.")
    ] = None,
    save_recoding: a.SaveRecoding = None,
    overwrite: a.Overwrite = False,
    reading: dict[str, Any],
    quiet: a.Quiet = False,
    json: a.Json = False,
) -> None:
    """Anonymize new records in the same way as an earlier release."""
    read = [table, recoding, held]
    problems = a.output_place_problems(output, read, overwrite, is_table=True)
    problems += a.output_place_problems(save_held, [table, recoding], overwrite, is_table=True)
    problems += a.output_place_problems(save_recoding, [table, held], overwrite)
    problems += a.named_twice(output, save_held, save_recoding)
    if output is None:
        problems.append("No output is named. Name a file with --output (-o).")
    if recoding is None:
        problems.append(
            "No recoding is named. Name the file that --save-recoding wrote with --recoding."
        )
    raise_problems(problems)
    from shoal.data.databases.address import DatabaseTable
    from shoal.data.files.table_file import formula_problems
    from shoal.encoding.frames import arrow_table, open_frame
    from shoal.reuse.recoding import Recoding

    assert recoding is not None
    assert output is not None
    known = Recoding.load(recoding)
    how = {**vars(known.settings.reading), **reading} if reading else None
    new = table.address if isinstance(table, DatabaseTable) else table
    batch = known.apply(new, batch_k=batch_k, held=held, regroup=regroup, reading=how)
    if batch.held_back and save_held is None:
        raise InputError(
            f"{counted(batch.held_back, 'record')} must be held back, because no group can take them. Name a "
            "file for them with --save-held, and pass it to the next batch with --held."
        )
    if batch.data is not None:  # before anything is written
        released = arrow_table(open_frame(batch.data))
        raise_problems(formula_problems(released, output, batch.settings.allows))
    _write(batch, output, save_held, save_recoding, overwrite)
    if json and not quiet:
        written = {"output": str(output) if batch.data is not None else None}
        say(dumps({**written, **batch.to_dict()}))
    elif not quiet:
        _tell(batch, output, save_held)


def _write(
    batch: Batch[Any],
    output: Path,
    save_held: Path | None,
    save_recoding: Path | None,
    overwrite: bool,
) -> None:
    """Write the batch last, after the records held back, so that none is lost if the disk is full."""
    if save_held is not None and batch.held_back:
        batch.save_held(save_held, overwrite=overwrite)
        WRITTEN.append(save_held)
    if batch.data is not None:
        batch.save(output, overwrite=overwrite)
        WRITTEN.append(output)
    if save_recoding is not None:
        batch.recoding.save(save_recoding, overwrite=overwrite)
        WRITTEN.append(save_recoding)


def _tell(batch: Batch[Any], output: Path, save_held: Path | None) -> None:
    """Print what happened to the new records and what was proved."""
    say(f"added          {counted(batch.taken, 'record')} to groups of the earlier release")
    say(f"newly grouped  {counted(batch.regrouped, 'record')}")
    say(
        f"held back      {counted(batch.held_back, 'record')}{(f', in {save_held}' if batch.held_back else '')}"
    )
    if batch.audit is None:
        say("written        nothing, because all records are held back")
        return
    for name, audit in (("batch", batch.audit), ("together", batch.together)):
        say(
            f"proved         {name}: {counted(audit.records, 'record')} in groups of at least {audit.k:,}"
        )
        for proof in audit.proofs:
            say(f"proved         {name}: {proof.requirement}: {proof.reached:.4g} reached")
    say(f"written        {output}")
