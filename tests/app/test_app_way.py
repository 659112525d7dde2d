"""The whole way through the app by plain requests, as a browser without scripts makes them."""

from __future__ import annotations

import hmac
import json
import os
import random
import shlex
import shutil
import signal
import stat
import threading
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from stewards import OWN, Steward, let_in

import shoal
from shoal import samples
from shoal.app.jobs import Jobs, Worker, WorkerEnded
from shoal.app.projects import Project, Projects, read_toml_file, write_toml_file
from shoal.app.worker import look as looking
from shoal.app.worker import run as estimating
from shoal.app.worker import run as making
from shoal.app.worker.__main__ import _answered


def people(records: int = 400) -> str:
    """A table with a name, two quasi-identifiers and an illness."""
    chance = random.Random(0)
    lines = ["name,age,town,ill"]
    for number in range(records):
        town = chance.choice(["Lyon", "Lille", "Porto"])
        lines.append(f"Person {number:04},{chance.randint(20, 69)},{town},{chance.choice('abc')}")
    return "\n".join(lines) + "\n"


def shown_command(steward: Steward, output: Path, report: Path) -> list[str]:
    """The command line that the page Release shows, with other files to write."""
    shown = steward.page("release").partition("<h2>The same from the command line")[2]
    command = unescape(shown.partition("<code>")[2].partition("</code>")[0])
    places = {"release.csv": str(output), "report.html": str(report)}
    return [places.get(part, part) for part in shlex.split(command)][1:]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Steward]:
    with let_in(tmp_path_factory.mktemp("app") / "projects") as found:
        yield found


@pytest.fixture
def project_of_people(tmp_path: Path) -> Project:
    """A project that no server knows."""
    table = tmp_path / "people.csv"
    table.write_text(people(), encoding="utf-8")
    project = Projects(tmp_path / "projects").new(table, "people.csv")
    chosen: dict[str, Any] = {"age": {"model": "interval"}, "town": {"model": "suppression"}}
    columns = {"others": "drop"}
    content = {"quasi_identifiers": chosen, "columns": columns, "requirement": {"k": 5}}
    write_toml_file(project.folder / "settings.toml", content)
    return project


@pytest.fixture(scope="module")
def project_of_400() -> dict[str, Any]:
    """Where the project lies that tests share, and its settings of the beginning."""
    return {}


@pytest.fixture
def steward(opened: Steward, project_of_400: dict[str, Any]) -> Steward:
    """Somebody who has opened a table of 400 people, and done nothing else yet.

    Reading a table takes a process, so tests share a project as long as none deletes it.
    """
    opened.base = project_of_400.get("base", "")
    if opened.base and opened.folder.exists():
        runs = opened.client.app.app.state.office.jobs._runs  # type: ignore[attr-defined]
        opened.wait(
            lambda: not any(job.worker.is_alive for job in runs.values())
        )  # Excel comes last
        for name in ("runs", "trees", "undo"):
            shutil.rmtree(opened.folder / name, ignore_errors=True)
        (opened.folder / "pseudonyms.key").unlink(missing_ok=True)
        (opened.folder / "settings.toml").write_bytes(project_of_400["settings"])
    else:
        assert "400 records" in opened.upload(people())
        project_of_400["base"] = opened.base
        project_of_400["settings"] = (opened.folder / "settings.toml").read_bytes()
    return opened


def test_a_table_becomes_the_release_that_its_command_line_makes(
    steward: Steward, tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    columns = steward.page("columns")
    assert "Suggested: identifier" in steward.page("part/column/0")
    assert "Person 0001" not in columns, "no rare value is shown"
    assert "Unique records" in steward.page("part/single")
    steward.post(
        "requirement", k="4", use_diversity="on", diversity_l="2", diversity_kind="distinct"
    )
    assert "Detail lost per column" in steward.page("part/estimate")
    steward.run(k="4", refine="1", keep_order="on", title="People of three towns")
    page = steward.page("release")
    assert "at least 3 others" in page or "Proved" in page
    report = steward.get("runs/1/report")
    assert "People of three towns" in report.text
    assert "unsafe-inline" in report.headers["content-security-policy"]
    release = steward.get("runs/1/download/csv")
    assert release.headers["content-disposition"].startswith("attachment")
    assert "Person" not in release.text
    output = tmp_path / "release.csv"
    assert shell(*shown_command(steward, output, tmp_path / "report.html"))[0] == 0
    assert output.read_bytes() == release.content
    assert steward.get("runs/1/download/parquet").content[:4] == b"PAR1"
    settings = tmp_path / "settings.toml"
    settings.write_bytes(steward.get("runs/1/download/toml").content)
    again = tmp_path / "again.csv"
    assert (
        shell(
            "anonymize", steward.folder / "upload/people.csv", "--settings", settings, "-o", again
        )[0]
        == 0
    )
    assert again.read_bytes() == release.content


def test_a_large_table_with_all_that_can_be_chosen_is_the_same_byte_for_byte(
    opened: Steward, tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    """Requirements, top and bottom coding, a tree that was edited, weights, pseudonyms and types."""
    people = samples.adult()[:10_000].to_pandas()
    people.insert(0, "person", [f"P{number:05}" for number in range(len(people))])
    assert "10,000 records" in opened.upload(people.to_csv(index=False), "adult.csv")
    names = list(people.columns)
    roles = {"person": "pseudonym", "income": "sensitive"}
    chosen = ("age", "sex", "education-num", "marital-status", "race")
    roles |= dict.fromkeys(chosen, "quasi-identifier")
    opened.post("columns", **{f"role-{n}": roles.get(name, "drop") for n, name in enumerate(names)})
    opened.post("types", **{f"type-{names.index('education-num')}": "text"})
    opened.wait(lambda: opened.get("part/looking").json()["status"] != "running")
    age, marital = names.index("age"), names.index("marital-status")
    folded = {"model": "interval", "step": "5", "low": "20", "high": "65", "weight": "2"}
    opened.post(f"model/{age}", **folded)
    built = opened.post(f"tree/{marital}", how="data")
    assert built.status_code == 303, built.text.partition("problems")[2][:600]
    shown = opened.page(f"part/tree/{marital}").partition("<textarea")[2].partition("</textarea>")
    outline = unescape(shown[0].partition(">")[2])
    below = next(line for line in outline.splitlines()[1:] if line.startswith("  "))
    edited = outline.replace(below, f"{below} (edited)", 1)
    assert opened.post(f"tree/{marital}", how="outline", outline=edited).status_code == 303
    required = {"use_diversity": "on", "diversity_l": "1.2", "use_alpha": "on", "alpha_alpha": "90"}
    opened.post("requirement", k="12", **required)
    opened.run(k="12", method="mondrian", keep_order="on")
    release = opened.get("runs/1/download/csv").content
    assert release.count(b"\n") == 10_001
    assert b"\xe2\x89\xa5 65" in release
    again = tmp_path / "again.csv"
    assert shell(*shown_command(opened, again, tmp_path / "report.html"))[0] == 0
    assert again.read_bytes() == release


def test_every_method_can_be_chosen_and_no_other(opened: Steward) -> None:
    opened.upload(
        "age,ill\n" + "".join(f"{20 + i % 7},{'ab'[i % 2]}\n" for i in range(60)), "ill.csv"
    )
    page = unescape(opened.page("run"))
    for name, summary in shoal.list_methods().items():
        assert f'<option value="{name}"' in page
        assert f"{name} – {summary}" in page
    opened.run(k="5", method="magic")
    assert "Unknown method 'magic'" in unescape(opened.page("run"))


def test_what_another_version_knew_of_a_table_counts_no_more(project_of_people: Project) -> None:
    looking.look(lambda *_: None, str(project_of_people.folder))
    assert project_of_people.look
    known = project_of_people.folder / "look.json"
    known.write_text(json.dumps({**project_of_people.look, "version": "0.0"}), encoding="utf-8")
    assert project_of_people.look is None


def test_a_column_is_coarsened_on_the_page_of_columns(
    opened: Steward, tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    table = "age,pay,day\n" + "".join(
        f"{20 + i % 7},{1000 + 13 * i},2020-{1 + i % 12:02}-{1 + i % 28:02}\n" for i in range(120)
    )
    assert "120 records" in opened.upload(table, "pay.csv")
    roles = {"role-0": "quasi-identifier", "role-1": "sensitive", "role-2": "keep", "roles": "1"}
    wrong = opened.post("columns", **roles, **{"coarse-1": "much"})
    assert wrong.status_code == 422
    assert "The width of ranges of &#39;pay&#39; must be a number above 0" in wrong.text
    coarse = {"coarse-1": "500", "low-1": "", "high-1": "2000", "coarse-2": "quarter"}
    assert opened.post("columns", **roles, **coarse).status_code == 303
    assert 'name="coarse-1" value="500"' in opened.page("part/column/1")
    assert 'name="coarse-2" value="quarter"' in opened.page("part/column/2")
    assert "less precise: 500" in opened.page("columns")
    opened.post("requirement", k="4")
    opened.run(k="4", keep_order="on")
    release = opened.get("runs/1/download/csv").text.replace("\r", "").splitlines()
    assert release[1].endswith(",1000–1499,2020-Q1")
    assert release[-1].endswith(",≥ 2000,2020-Q4")
    again = tmp_path / "again.csv"
    assert shell(*shown_command(opened, again, tmp_path / "report.html"))[0] == 0
    assert again.read_text(encoding="utf-8").splitlines() == release


def test_a_name_becomes_a_pseudonym_whose_key_stays_secret(
    steward: Steward, tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    steward.post("columns", **{"role-0": "pseudonym"})
    key_file = steward.folder / "pseudonyms.key"
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    own = key_file.read_text(encoding="ascii").strip()
    assert str(key_file) in steward.page("columns")
    assert "1 replaced" in steward.page("part/state")
    steward.run(k="4", keep_order="on")
    release = steward.get("runs/1/download/csv")
    assert release.text.startswith("name,age")
    assert "Person" not in release.text
    again = tmp_path / "again.csv"
    assert shell(*shown_command(steward, again, tmp_path / "report.html"))[0] == 0
    assert again.read_bytes() == release.content
    settings = tmp_path / "settings.toml"
    settings.write_bytes(steward.get("runs/1/download/toml").content)
    given = ("anonymize", steward.folder / "upload/people.csv", "--settings", settings, "-o")
    assert shell(*given, tmp_path / "no_key.csv")[0] == 2
    assert shell(*given, tmp_path / "with_key.csv", "--key-file", key_file)[0] == 0
    assert (tmp_path / "with_key.csv").read_bytes() == release.content
    pages = ("table", "columns", "generalization", "requirement", "run", "release")
    seen = [steward.page(page) for page in (*pages, "part/key", "runs/1/report")]
    files = [path for path in steward.folder.rglob("*") if path.is_file() and path != key_file]
    assert not any(own in text for text in seen)
    assert not any(own.encode() in path.read_bytes() for path in files)
    steward.post("delete")
    assert not key_file.exists()


def test_nobody_else_can_read_anything_in_the_folder_of_the_app(steward: Steward) -> None:
    before = os.umask(0o000)
    try:
        steward.upload(people())
        steward.post("columns", **{"role-0": "pseudonym"})
        tree = b"Lyon,France,*\nLille,France,*\nPorto,Portugal,*\n"
        sent = {"file": ("town.csv", tree)}
        steward.client.post(f"{steward.base}/tree/2/upload", headers=OWN, files=sent)
        steward.run(k="4")
        paths = list(steward.root.rglob("*"))
        files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_file()}
        assert {"people.csv", "pseudonyms.key", "release.csv", "report.html"} < set(files)
        assert len(list(steward.folder.glob("trees/2-*.csv"))) == 1
        assert set(files.values()) == {0o600}, files
        folders = {path: path.stat().st_mode for path in paths if path.is_dir()}
        assert {stat.S_IMODE(mode) for mode in folders.values()} == {0o700}, folders
    finally:
        os.umask(before)


def test_pseudonyms_take_the_key_of_a_file_and_show_nothing_of_it(
    steward: Steward, tmp_path: Path
) -> None:
    secret = "an old key of the clinic"
    (tmp_path / "clinic.key").write_text(secret, encoding="ascii")
    (tmp_path / "short.key").write_text("short", encoding="ascii")
    (tmp_path / "short.key").chmod(0o600)
    assert steward.post("key", path=str(tmp_path / "clinic.key")).status_code == 422, "no pseudonym"
    steward.post("columns", **{"role-0": "pseudonym"})
    for wrong in (secret, str(tmp_path / "none.key"), "clinic.key"):
        answer = steward.post("key", path=wrong)
        assert answer.status_code == 422
        assert wrong not in answer.text.partition("messages")[2].partition("</div>")[0]
        assert secret not in answer.text
    assert "can be guessed" in steward.post("key", path=str(tmp_path / "short.key")).text
    (tmp_path / "clinic.key").chmod(0o644)
    assert "chmod 600" in steward.post("key", path=str(tmp_path / "clinic.key")).text
    (tmp_path / "clinic.key").chmod(0o600)
    assert steward.post("key", path=str(tmp_path / "clinic.key")).status_code == 303
    assert str(tmp_path / "clinic.key") in steward.page("columns")
    steward.run(k="4", keep_order="on")
    first = steward.get("runs/1/download/csv").text.splitlines()[1].partition(",")[0]
    assert first == hmac.digest(secret.encode(), b"Person 0000", "sha256").hex()[:32]
    steward.post("key", own="1")
    steward.run(k="4", keep_order="on")
    other = steward.get("runs/2/download/csv").text.splitlines()[1].partition(",")[0]
    assert other != first
    steward.post("runs/1/copy")
    assert str(tmp_path / "clinic.key") in steward.page("columns")
    steward.post("delete")
    assert (tmp_path / "clinic.key").exists()


def test_formulas_are_in_no_csv_file_of_the_app(opened: Steward) -> None:
    opened.upload(people().replace(",a\n", ",=1+1\n"))
    opened.post("columns", **{"role-0": "identifier", "role-3": "sensitive"})
    opened.run(k="4")
    assert "a spreadsheet would run" in opened.page("release")
    assert opened.get("runs/1/download/csv").status_code == 404
    assert opened.get("runs/1/download/parquet").status_code == 200


PART = b'--x\r\nContent-Disposition: form-data; name="file"; filename="people.csv"\r\n\r\nage\r\n1'
BROKEN = {
    "no boundary": ("multipart/form-data; boundary=x", b"age\r\n1"),
    "no part": ("multipart/form-data; boundary=x", b""),
    "cut off": ("multipart/form-data; boundary=x", PART),
    "a header without a name": ("multipart/form-data; boundary=x", b"--x\r\n: y\r\n\r\n"),
    "a strange header": (
        "multipart/form-data; boundary=x",
        b"--x\r\nA\x01: y\r\n\r\n1\r\n--x--\r\n",
    ),
    "another boundary": ("multipart/form-data; boundary=y", PART + b"\r\n--x--\r\n"),
    "a long boundary": (f"multipart/form-data; boundary={'x' * 10_000}", PART),
    "a long header": ("multipart/form-data; boundary=x", b"--x\r\nA: " + b"y" * 10_000),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_upload_is_one_sentence_and_leaves_nothing(steward: Steward, how: str) -> None:
    kind, content = BROKEN[how]
    before = [path for path in steward.root.rglob("*") if path.is_file()]
    headers = {**OWN, "content-type": kind}
    for place in ("/projects/upload", f"{steward.base}/tree/2/upload"):
        answer = steward.client.post(place, headers=headers, content=content)
        assert answer.status_code == 400, answer.text
        assert "did not arrive completely. Upload it again." in answer.text
    assert [path for path in steward.root.rglob("*") if path.is_file()] == before
    assert not list(steward.root.glob("incoming-*"))


@pytest.mark.parametrize("how", [how for how in BROKEN if how not in ("cut off", "no part")])
def test_a_broken_form_is_one_sentence(steward: Steward, how: str) -> None:
    kind, content = BROKEN[how]
    headers = {**OWN, "content-type": kind}
    for part in ("columns", "requirement", "way"):
        answer = steward.client.post(f"{steward.base}/{part}", headers=headers, content=content)
        assert answer.status_code == 400, answer.text
        assert "Go back and send it again" in answer.text


def test_rows_are_shown_only_where_they_were_asked_for(steward: Steward) -> None:
    pages = ("table", "columns", "generalization", "requirement", "run", "release")
    assert not any("Person 00" in steward.page(page) for page in pages)
    assert "Person 0001" in steward.page("part/rows")


def test_texts_that_stand_for_missing_values_are_counted_as_missing(tmp_path: Path) -> None:
    weights = ["k.A." if i % 10 == 0 else f"{20 + i % 9},5" for i in range(300)]
    lines = [f"P{i};{weight};{i % 3}" for i, weight in enumerate(weights)]
    table = tmp_path / "clinic.csv"
    table.write_text("\n".join(["name;BMI;ward", *lines]), encoding="utf-8")
    project = Projects(tmp_path / "projects").new(table, "clinic.csv")
    looking.look(lambda *_: None, str(project.folder))
    look = project.look
    assert look is not None
    assert look["input"]["missing"] == ["k.A."]
    assert {own["name"]: own["missing"] for own in look["columns"]}["BMI"] == 30
    bars = next(own["bars"] for own in look["columns"] if own["name"] == "BMI")
    assert "k.A." not in [bar["label"] for bar in bars]


def test_columns_that_identify_people_are_released_only_after_typing_their_number(
    steward: Steward,
) -> None:
    names = [
        column["name"]
        for column in json.loads((steward.folder / "look.json").read_text())["columns"]
    ]
    roles = {f"role-{i}": "drop" for i in range(len(names))}
    roles[f"role-{names.index('age')}"] = "quasi-identifier"
    roles[f"role-{names.index('town')}"] = "keep"
    assert steward.post("columns", roles="1", **roles).status_code in (200, 303)
    steward.run(k="4")
    page = steward.page("run")
    assert "Refused." in page
    assert "--allow" not in page
    run = json.loads((steward.folder / "runs" / "1" / "run.json").read_text())
    identified = run["refusals"][0]["identified"]
    assert f"type <b>{identified}</b>" in page
    assert steward.post("runs/1/allow", typed=str(identified + 1)).status_code == 422
    assert not (steward.folder / "runs" / "2").exists()
    assert steward.post("runs/1/allow", typed=f" {identified} ").status_code == 303
    steward.finish()
    page = steward.page("release")
    assert "! Proved for some columns only" in page
    assert f"can identify {identified} of 400 people" in page
    assert "Release this column even though its values identify people" in steward.page("columns")
    assert steward.post("columns", roles="1", **roles).status_code in (200, 303)  # box unticked
    steward.run(k="4")
    assert "Refused." in steward.page("run")


def test_a_release_with_k_of_1_is_downloaded_only_on_purpose(steward: Steward) -> None:
    steward.run(k="1")
    page = steward.page("release")
    assert "✗ Not proved" in page
    assert "Download it even though nothing is protected" in page


def test_a_run_encodes_its_table_once(
    project_of_people: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.pipeline.carriers import memory

    encoded: list[Any] = []
    encode = memory.encode_source
    monkeypatch.setattr(
        memory, "encode_source", lambda *given, **how: encoded.append(1) or encode(*given, **how)
    )
    said: list[dict[str, Any]] = []
    run = project_of_people.new_run()
    folder = project_of_people.run_folder(run)
    making.run_release(
        lambda _, told: said.append(told), str(project_of_people.folder), str(folder)
    )
    assert len(encoded) == 1
    assert any("seconds" in told and told["records"] == 400 for told in said)


def test_an_estimate_from_a_sample_knows_the_risks_of_the_whole_table(
    project_of_people: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(project_of_people.folder)
    whole = estimating.estimate(None, folder)
    monkeypatch.setattr(estimating, "SAMPLE", 100)
    sampled = estimating.estimate(None, folder)
    assert (whole["sampled"], sampled["sampled"]) == (400, 100)
    before = [name for name in whole if name.endswith("_before")]
    assert len(before) == 4
    assert {name: sampled[name] for name in before} == {name: whole[name] for name in before}
    assert sampled["loss"] > whole["loss"], "fewer records lose more"


def test_what_cannot_be_met_is_said_at_once_with_the_nearest(steward: Steward) -> None:
    steward.post("requirement", k="401")
    said = steward.page("part/estimate")
    assert "No release can meet this" in said
    assert "at most 400" in said


def test_a_wrong_entry_changes_nothing_and_is_said(steward: Steward) -> None:
    before = steward.page("part/state")
    answer = steward.post("requirement", k="none")
    assert answer.status_code == 422
    assert "k must be a whole number" in answer.text
    assert steward.page("part/state") == before


def test_a_change_is_taken_back(steward: Steward) -> None:
    steward.post("requirement", k="17")
    page = steward.page("requirement")
    assert "k = 17" in page
    assert ">Undo: k</button>" in page
    steward.post("undo", step="requirement")
    page = steward.page("requirement")
    assert "k = 17" not in page
    assert ">Redo: k</button>" in page
    steward.post("redo", step="requirement")
    assert "k = 17" in steward.page("requirement")
    steward.post("columns", **{"role-2": "keep"})
    assert "Undo: role of ‘town’" in steward.page("part/history")


def test_a_requirement_of_one_column_is_proved_and_removed(steward: Steward) -> None:
    steward.post(
        "columns", **{"role-1": "quasi-identifier", "role-2": "sensitive", "role-3": "sensitive"}
    )
    fields = {"column": "ill", "name": "sensitivity", "sensitivity_p": "3"}
    assert steward.post("requirement/own", **fields).status_code == 303
    page = steward.page("requirement")
    assert "<b>ill</b>: sensitivity, p = 3" in page
    steward.run(k="4")
    proofs = json.loads((steward.folder / "runs" / "1" / "run.json").read_text())["figures"][
        "proofs"
    ]
    assert any("ill" in proof for proof in proofs)
    assert not any("town" in proof for proof in proofs), "the other column has none"
    assert steward.post("requirement/own", column="name", name="alpha").status_code == 422
    steward.post("requirement/remove", column="ill", name="sensitivity")
    assert "No column has a requirement of its own." in steward.page("requirement")


def test_a_hierarchy_is_written_seen_and_chosen(steward: Steward) -> None:
    steward.post("columns", **{"role-2": "quasi-identifier"})
    outline = "*\n  France\n    Lyon\n    Lille\n  Portugal\n    Porto\n"
    assert steward.post("tree/2", how="outline", outline=outline).status_code == 303
    assert "France" in steward.page("part/tree/2")
    answer = steward.post("tree/2", how="outline", outline="*\n  France\n    Lyon\n")
    assert answer.status_code == 422
    assert "not in the hierarchy" in answer.text
    assert steward.post("tree/2", how="codes").status_code == 303
    steward.post("model/2", model="hierarchy", finest="1")
    assert 'value="1"' in steward.page("generalization")


def test_runs_are_compared_copied_and_deleted(steward: Steward) -> None:
    steward.run(k="3")
    steward.run(k="9")
    page = steward.page("run")
    assert "k = 3" in page
    assert "Detail lost against risk" in page
    steward.post("runs/1/copy")
    assert "k = 3" in steward.page("part/state")
    steward.post("runs/1/delete")
    assert not (steward.folder / "runs/1").exists()
    assert steward.get("runs/1/download/csv").status_code == 404


def test_a_run_is_cancelled_at_once(steward: Steward) -> None:
    steward.post("runs", k="3", refine="600")
    office = steward.client.app.app.state.office  # type: ignore[attr-defined]
    project = office.projects.get(steward.folder.name)
    process = office.jobs.running(project, "1").worker
    steward.post("runs/1/cancel")
    assert not process.is_alive
    assert "Cancelled; nothing was kept." in steward.page("run")


def test_a_killed_run_says_so_and_takes_nothing_with_it(steward: Steward) -> None:
    steward.post("runs", k="3", refine="600")
    office = steward.client.app.app.state.office  # type: ignore[attr-defined]
    project = office.projects.get(steward.folder.name)
    os.kill(office.jobs.running(project, "1").worker.process_id, signal.SIGKILL)
    steward.wait(lambda: "Ended unexpectedly" in steward.page("run"))
    steward.run(k="3")
    assert "Protected" in steward.page("release")


def test_a_page_never_takes_a_cancelled_run_for_a_cut_off_one(steward: Steward) -> None:
    """Pages may ask between the end of the process and the note about it."""
    for _ in range(3):
        steward.post("runs", k="3", refine="600")
        number = max(int(path.name) for path in steward.folder.glob("runs/*"))
        seen: list[str] = []
        asking = threading.Event()

        def ask(seen: list[str] = seen, asking: threading.Event = asking) -> None:
            while not asking.is_set():
                seen.append(steward.page("run"))

        thread = threading.Thread(target=ask)
        thread.start()
        steward.post(f"runs/{number}/cancel")
        asking.set()
        thread.join()
        seen.append(steward.page("run"))
        assert not any("Ended unexpectedly" in page for page in seen)
        assert "Cancelled; nothing was kept." in seen[-1]


def test_a_run_that_the_end_of_the_app_cut_off_says_so(steward: Steward) -> None:
    office = steward.client.app.app.state.office  # type: ignore[attr-defined]
    project = office.projects.get(steward.folder.name)
    project.new_run()
    found = type(office)(office.projects, Jobs(), office.templates).runs(project)
    assert found[0]["status"] == "ended"


def test_a_dead_desk_is_replaced(steward: Steward) -> None:
    office = steward.client.app.app.state.office  # type: ignore[attr-defined]
    project = office.projects.get(steward.folder.name)
    os.kill(office.jobs.desk(project).process_id, signal.SIGKILL)
    steward.wait(lambda: not office.jobs.desk(project).is_busy)
    assert "Detail lost per column" in steward.page("part/estimate")


def test_a_worker_that_dies_while_it_is_asked_is_no_error_of_the_app() -> None:
    worker = Worker()
    os.kill(worker.process_id, signal.SIGKILL)
    with pytest.raises(WorkerEnded):
        worker.ask("look", project="/nowhere")
    worker.end()


def test_a_bad_file_is_refused_in_plain_words(opened: Steward) -> None:
    said = opened.upload(b"not a workbook", "people.xlsx")
    assert "The table cannot be read" in said
    assert "error of its own" not in said
    assert "Traceback" not in said
    assert opened.get("columns").status_code == 200


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\x00\x01\x02" * 400, "people.csv"),
        (b"PAR1 nothing", "people.parquet"),
        (b"a,b\n1\n", "people.csv"),
        (b"age\n", "people.csv"),
        (b"a,b\n1,2\n", "people.exe"),
    ],
)
def test_a_worker_refuses_bad_files(tmp_path: Path, content: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(content)
    project = Projects(tmp_path / "projects").new(tmp_path / name, name)
    said, why = _answered(looking.look, {"project": str(project.folder)}, lambda *_: None)
    assert said == "failed"
    assert "error of its own" not in " ".join(why["problems"])


def test_a_form_without_a_file_is_refused(opened: Steward) -> None:
    answer = opened.client.post("/projects/upload", headers=OWN, files={"file": ("x.csv", b"")})
    assert answer.status_code == 422
    assert "empty" in answer.text
    assert not list(opened.root.glob("incoming-*"))


def test_reading_is_cancelled_at_any_moment_and_begun_again(opened: Steward) -> None:
    office = opened.client.app.app.state.office  # type: ignore[attr-defined]
    for moment in ("at once", "when a process reads"):
        files = {"file": ("people.csv", people())}
        answer = opened.client.post("/projects/upload", headers=OWN, files=files)
        opened.base = "/p/" + answer.headers["location"].split("/")[-2]
        job = office.jobs.looking(office.projects.get(opened.folder.name))
        if moment != "at once":
            opened.wait(lambda job=job: job.worker is not None)  # type: ignore[misc]
        assert "Cancel reading" in opened.page("table")
        assert opened.post("input/cancel").status_code == 303
        assert job.worker is None or not job.worker.is_alive
        assert "Reading was cancelled" in opened.page("table")
        assert not (opened.folder / "look.json").exists()
        assert "has not been read" in opened.page("columns")
    opened.post("input")
    opened.wait(lambda: opened.get("part/looking").json()["status"] != "running")
    assert "400 records" in opened.page("table")
    opened.post("input/cancel")
    assert "400 records" in opened.page("table"), "there is nothing to cancel any more"


def test_how_a_file_is_read_is_corrected_in_place(opened: Steward) -> None:
    text = "name;größe\n" + "".join(f"P{n};{n % 7},5\n" for n in range(60))
    assert "60 records" in opened.upload(text.encode("cp1252"), "menschen.csv")
    opened.post("input", encoding="cp1252", delimiter=";", decimal=",")
    opened.wait(lambda: opened.get("part/looking").json()["status"] != "running")
    page = opened.page("table")
    assert "größe" in page
    assert "cp1252" in page


def test_titles_totals_and_missing_values_of_one_column_are_found(opened: Steward) -> None:
    rows = [f"P{n};{20 + n % 30 if n > 4 else 'k.A.'};{n % 3}" for n in range(60)]
    text = "\n".join(["Report 2024", "", "name;age;town", *rows, "Total;;"])
    page = opened.upload(text, "people.csv")
    assert "60 records" in page
    assert "The column names are in row 3" in page
    assert 'name="header_row" type="number" min="0" step="1" value="3"' in page
    assert 'name="skip_last" type="number" min="0" step="1" value="1"' in page
    assert 'value="k.A."' in page
    age = page[page.index(">age</th>") :]
    assert '<td class="number">5</td></tr>' in age[: age.index("</tr>") + 5]


def test_what_columns_hold_is_corrected_in_place_and_by_the_command_line(
    opened: Steward, tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    chance = random.Random(2)
    lines = [f"{chance.randint(1, 9)},{chance.randint(20, 69)},a{n % 3}" for n in range(200)]
    opened.upload("region,age,ill\n" + "\n".join(lines) + "\n", "regions.csv")
    roles = {"role-0": "quasi-identifier", "role-1": "quasi-identifier", "role-2": "sensitive"}
    opened.post("columns", **roles)
    opened.post("model/0", model="interval", weight="2")
    answer = opened.post("types", **{"type-0": "text", "type-2": "number"})
    assert answer.status_code == 422
    assert "is declared as number" in answer.text
    assert "region" not in opened.page("part/state")
    assert opened.post("types", **{"type-0": "text", "type-1": "number"}).status_code == 303
    opened.wait(lambda: opened.get("part/looking").json()["status"] != "running")
    page = opened.page("table")
    assert '<option value="text" selected>' in page
    assert "whole numbers" not in page.partition("region")[2].partition("</tr>")[0]
    opened.post("input", delimiter=",")
    opened.wait(lambda: opened.get("part/looking").json()["status"] != "running")
    opened.run(k="4", keep_order="on")
    release = opened.get("runs/1/download/csv")
    regions = {line.partition(",")[0] for line in release.text.splitlines()[1:]}
    assert regions <= {*"123456789", "*"}, "no ranges"
    again = tmp_path / "again.csv"
    assert shell(*shown_command(opened, again, tmp_path / "report.html"))[0] == 0
    assert again.read_bytes() == release.content


def test_names_of_columns_and_files_are_never_markup(opened: Steward) -> None:
    lines = ['<script>alert(1)</script>,"\'""><img src=x>"'] + [
        f"{n % 9},{n % 4}" for n in range(80)
    ]
    opened.upload("\n".join(lines) + "\n", "<b>people</b>.csv")
    for page in ("table", "columns", "generalization", "requirement", "run", "part/rows"):
        text = opened.page(page)
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "<b>people" not in text
    assert "&lt;script&gt;" in opened.page("columns")


def test_the_page_of_columns_ends_with_what_is_unknown_and_removed(opened: Steward) -> None:
    lines = [f"P{n},{20 + n % 9},{n % 4},{n % 3},{n % 5}" for n in range(120)]
    opened.upload("name,age,zx1,zx2,zx3\n" + "\n".join(lines) + "\n", "people.csv")
    page = opened.page("columns")
    assert "<dt>Left out, meaning unknown</dt><dd>zx1 … zx3 (3 columns)</dd>" in page
    assert "<dt>Removed as identifiers</dt><dd>name</dd>" in page


def test_a_column_opens_with_its_chart_and_what_its_role_allows(steward: Steward) -> None:
    page = steward.page("columns")
    assert "<svg" not in page, "charts are drawn on demand"
    assert "<svg" in steward.page("columns?open=1")
    steward.post("columns", **{"role-1": "keep", "role-2": "quasi-identifier"})
    assert "Distribution of age" in steward.page("part/column/1")
    assert 'name="coarse-1"' in steward.page("part/column/1")
    assert "not protected" in steward.page("part/effect/1")
    assert 'name="coarse-2"' not in steward.page("part/column/2")
    assert steward.get("part/column/99").status_code == 404


def test_several_columns_get_a_model_by_one_form(steward: Steward) -> None:
    roles = {"role-1": "quasi-identifier", "role-2": "quasi-identifier"}
    assert steward.post("columns", **roles).status_code == 303
    assert steward.post("columns", all_model="subset", column=["1", "2"]).status_code == 303
    entries = read_toml_file(steward.folder / "settings.toml")["quasi_identifiers"]
    assert {name: own["model"] for name, own in entries.items()} == {
        "age": "subset",
        "town": "subset",
    }
    refused = steward.post("columns", all_model="interval", column=["1", "2"])
    assert refused.status_code == 422
    assert "Ranges need numbers or dates. Untick town, or" in refused.text
    refused = steward.post("columns", all_model="subset", column=["0"])
    assert "A model is for quasi-identifiers." in refused.text
    assert steward.post("columns", all_model="suggested", column=["1"]).status_code == 303
    entries = read_toml_file(steward.folder / "settings.toml")["quasi_identifiers"]
    assert entries["age"]["model"] == "interval"
    assert entries["town"]["model"] == "subset"


def test_several_columns_get_a_role_by_one_form(steward: Steward) -> None:
    steward.post("columns", all="drop", column=["1", "2"])
    found = steward.page("part/state")
    assert "0 quasi-identifiers" in found
    assert "No column is a quasi-identifier yet" in steward.page("part/estimate")
    assert steward.post("runs", k="3").status_code == 422


def test_a_deleted_project_leaves_nothing(steward: Steward) -> None:
    folder = steward.folder
    assert folder.exists()
    steward.post("delete")
    assert not folder.exists()
    assert steward.get("table").status_code == 404
