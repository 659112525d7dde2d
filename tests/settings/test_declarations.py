"""A setting that is declared is known everywhere, without another line of code."""

from __future__ import annotations

import inspect
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import shoal
from shoal.api.anonymize import AnonymizeOptions
from shoal.encoding.source import Input
from shoal.settings.declaration import READING
from shoal.settings.settings import SETTINGS, SettingsOptions

ROOT = Path(__file__).parents[2]
# A setting that is declared next to `loosen`, and what a program then sees of it.
NEW = '''
import inspect, re, runpy, sys
from pathlib import Path
import shoal.settings.declaration as declaration
source = Path("src/shoal/settings/settings.py").read_text(encoding="utf-8")
new = """    tilt: float = setting(
        0.0, "output", check=SHARE, help="Share of tilted values.", takes=float, doc="How much is tilted.",
        ask=Question("Tilt in percent"),
    )
    loosen: float = setting("""
changed = source.replace("    loosen: float = setting(", new)
assert changed != source
import shoal.settings
module = type(sys)("shoal.settings.settings")
sys.modules["shoal.settings.settings"] = module
exec(compile(changed, "settings.py", "exec"), module.__dict__)
import shoal
from typer.testing import CliRunner
from shoal.cli.app import commands
settings = shoal.Settings(quasi_identifiers={"age": None}, k=2, tilt=0.25)
assert settings.to_dict()["output"]["tilt"] == 0.25
assert shoal.Settings.from_dict(settings.to_dict()).tilt == 0.25
assert "tilt" in inspect.signature(shoal.anonymize).parameters
assert "How much is tilted." in shoal.anonymize.__doc__
assert "--tilt" in CliRunner().invoke(commands, ["anonymize", "--help"]).output
page = Path("docs/reference/settings-file.md").read_text(encoding="utf-8")
assert "| `tilt` | `0.0` | How much is tilted. |" in runpy.run_path("docs/hooks.py")["on_page_markdown"](page)
from starlette.datastructures import FormData
from shoal.app import forms
from shoal.app.context import page_templates
answered = forms.with_answers({}, FormData({"tilt": "25"}), "run")
assert answered["output"]["tilt"] == 0.25
form = page_templates("").from_string(
    '{% import "macros.html" as m with context %}{% for own in forms.asked("run") %}{{ m.field(own, settings, none) }}'
    "{% endfor %}"
).render(settings=answered)
assert "Tilt in percent" in form and 'name="tilt" type="number" min="0" step="any" value="25"' in form
try:
    shoal.Settings(quasi_identifiers={"age": None}, k=2, tilt=1)._normalized()
    shoal.anonymize("nowhere.csv", quasi_identifiers=["age"], k=2, tilt=1)
except shoal.InputError as error:
    print(error)
'''


def test_a_new_setting_is_known_everywhere_once_it_is_declared() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", NEW], capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == (
        "The 'tilt' parameter must be a share from 0 to below 1. Got 1 instead."
    )


def test_type_checkers_know_every_keyword() -> None:
    assert set(SettingsOptions.__annotations__) == {
        name for name, own in SETTINGS.items() if own.is_keyword
    }
    parameters = [name for name in inspect.signature(shoal.anonymize).parameters if name != "data"]
    assert set(AnonymizeOptions.__annotations__) == set(parameters)


def test_the_docstring_explains_every_keyword_once() -> None:
    text = inspect.getdoc(shoal.anonymize) or ""
    parameters = text.partition("----------\n")[2].partition("\nReturns\n")[0]
    explained = re.findall(r"^(\w+)$", parameters, re.MULTILINE)
    assert explained == list(inspect.signature(shoal.anonymize).parameters)


def test_every_field_of_input_has_an_option_and_an_explanation() -> None:
    fields = list(inspect.signature(Input).parameters)
    assert sorted(READING) == sorted(fields)
    hooks = runpy.run_path(str(ROOT / "docs" / "hooks.py"))
    rows = re.findall(r"^\| `(\w+)` \| .* \| \S", hooks["settings"]("input"), re.MULTILINE)
    assert sorted(rows) == sorted(fields)


def test_an_unknown_keyword_is_refused_as_python_does() -> None:
    with pytest.raises(TypeError) as caught:
        shoal.anonymize("people.csv", sensitve=["ill"])  # type: ignore[call-overload]
    assert str(caught.value) == (
        "anonymize() got an unexpected keyword argument 'sensitve'. Did you mean 'sensitive'?"
    )
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'zzz'$"):
        shoal.anonymize("people.csv", zzz=1)  # type: ignore[call-overload]


@pytest.mark.parametrize("given", ["wmi:0.3", "wmi"])
def test_the_share_of_wmi_is_given_with_it(
    given: str, shell: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    table, saved = tmp_path / "people.csv", tmp_path / "saved.toml"
    table.write_text("age,ill\n1,a\n2,a\n3,b\n4,a\n5,b\n6,b\n", encoding="utf-8")
    code, _, err = shell(
        *("anonymize", table, "-q", "age", "-s", "ill", "-k", 3, "--objective", given),
        *("-o", tmp_path / "release.csv", "--save-settings", saved, "--allow", "ill"),
    )
    assert (code, err) == (0, "")
    settings = shoal.Settings.load(saved)
    assert (settings.objective, settings.w) == ("wmi", 0.3 if ":" in given else 0.5)
    release = shoal.anonymize(table, settings=saved, objective=shoal.WMI(0.8))
    assert release.settings.w == 0.8
    assert release.loss() == release.loss(shoal.WMI(0.8)) != release.loss(shoal.WMI(0.1))
