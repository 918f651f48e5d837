"""The examples of docs/data.md work as described."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.commands.pipeline.prepare import prepare
from nlobayes.data.prospino import LAYOUT
from nlobayes.data.statements import PROTONS, state_process
from nlobayes.data.table_files import read_table, to_csv_text
from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.job_builder import ingest_job, prepare_job
from nlobayes.surrogate.identity import origin, process_of, qcd_order
from nlobayes.types import Dataset, Table

DOCS = Path(__file__).parents[3] / "docs"
PAGE, POINT = (DOCS / "data.md").read_text(), (DOCS / "point.slha").read_text()
WRITES_PARQUET = """
import pyarrow as pa
import pyarrow.parquet as pq

columns = {"m1": [-97.5, 180.5, -361.3], "n11": [0.97, 0.15, 0.047], "sigma": [0.49, 12.1, 0.0031]}
units = {"m1": "GeV", "n11": "1", "sigma": "fb"}
fields = [pa.field(name, pa.float64(), metadata={"unit": units[name]}) for name in columns]
pq.write_table(pa.table(columns, schema=pa.schema(fields)), "points.parquet")
"""
STORED = """
source: {kind: table, path: points.parquet}
features: {columns: [m1, n11], map: raw, units: {m1: TeV}, standardise: false}
target: {column: sigma, unit: pb, standardise: false}
split: {train: 1, validation: 1, test: 1}
"""
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(kind: str) -> list[str]:
    return [text for name, text in BLOCK.findall(PAGE) if name == kind]


def number_with(words: str) -> int:
    """Return the number of the only study of the page that contains a text."""
    (number,) = [n for n, text in enumerate(examples("yaml")) if words in text]
    return number


def preset(number: int) -> DatasetPreset:
    """The dataset of one of the page's studies."""
    (content,) = yaml.safe_load(examples("yaml")[number])["datasets"].values()
    return DatasetPreset.model_validate(content)


def prepared(number: int, table: Path) -> Dataset:
    return prepared_by(preset(number), table)


def prepared_by(preset: DatasetPreset, table: Path) -> Dataset:
    dataset = preset.model_copy(update={"reference_points": 1})
    prepare(prepare_job(dataset).model_dump_json(), table, table.with_name("data.nc"))
    return read_dataset(table.with_name("data.nc"))


def test_an_slha_file_is_ingested_as_shown(tmp_path: Path) -> None:
    (tmp_path / "scan").mkdir()
    (tmp_path / "scan/point.slha").write_text(POINT)
    program, *words = examples("sh")[0].split()
    assert program == "nlobayes"
    command = [sys.executable, "-c", "from nlobayes.cli import main; main()", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    printed, layout = examples("")
    assert done.stderr == printed
    assert tuple(layout.split()) == LAYOUT
    columns = read_table(tmp_path / "points.csv").columns
    named = set(re.findall(r"`(\w+)`", PAGE.split("| columns |")[1].split("`--pair`")[0]))
    assert {*columns} - {f"n{i}{k}" for i in (1, 2) for k in (2, 3)} == named - {"msq"}
    assert (columns["m1"][0], columns["m2"][0]) == (-97.521, 180.532)
    assert (columns["sigma_pb"][0], columns["rel_error"][0]) == (3.745 / 1000, 0.0009)
    settings = preset(number_with("scanned:"))
    assert ingest_job(settings).spectra.pair == (1, 2)
    assert {*settings.features.columns} <= {*columns}
    assert {*settings.target.scale_variations, settings.target.relative_error} <= {*columns}


def test_the_page_shows_parts_of_the_file() -> None:
    parts = examples("slha")
    assert len(parts) == 2
    assert all(part in POINT for part in parts)


def test_charginos_are_ingested_as_shown(tmp_path: Path) -> None:
    (tmp_path / "scan").mkdir()
    (tmp_path / "scan/point.slha").write_text(POINT)
    command = [sys.executable, "-c", "from nlobayes.cli import main; main()"]
    words = examples("sh")[1].split()[1:]
    done = subprocess.run(
        [*command, *words], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr == "scan: points from 1 of 1 files\n"
    table = read_table(tmp_path / "charged.csv")
    settings = preset(number_with("charged:"))
    assert [*table.columns] == [*settings.features.columns, "lo_pb", "sigma_pb", "file"]
    assert (table.columns["sigma_pb"][0], table.columns["lo_pb"][0]) == (1.47, 1.21)
    assert (table.columns["mc1"][0], table.columns["v12"][0]) == (181.207, -0.266)
    spectra = ingest_job(settings).spectra
    assert (state_process(PROTONS, spectra.reaction)["process"], spectra.order) == (
        "p p -> chi0_2 chi+_1",
        2,
    )


def test_the_csv_is_prepared(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text(examples("csv")[0])
    dataset = prepared(number_with("tabulated:"), tmp_path / "points.csv")
    assert dataset.observed[0] == 0.492 / 1000
    assert dataset.error is not None
    np.testing.assert_allclose(dataset.error[:2], np.array([0.0011, 0.0008]) / np.log(10))


def test_the_parquet_is_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run([sys.executable, "-c", WRITES_PARQUET], check=True)
    dataset = prepared_by(
        DatasetPreset.model_validate(yaml.safe_load(STORED)), tmp_path / "points.parquet"
    )
    assert dataset.inputs[:, 0] == pytest.approx([-0.0975, 0.1805, -0.3613], rel=1e-12)
    assert dataset.observed == pytest.approx([0.49e-3, 12.1e-3, 3.1e-6], rel=1e-12)
    assert dataset.units == {"m1": "TeV", "n11": "1", "sigma": "pb"}


def test_the_process_of_a_table_is_stated(tmp_path: Path) -> None:
    number = number_with("incoming:")
    (tmp_path / "points.csv").write_text(examples("csv")[0])
    prepared(number, tmp_path / "points.csv")
    stated = origin(read_attrs(tmp_path / "data.nc"))
    assert process_of(stated) == ((2212, 2212), (1000022, 1000022), 13000.0)
    gluino = "mass_1000021 = 2500 GeV (2475 to 2525)"
    wino = "wino_1000024 = 1 1 (0.98 to 1)"
    assert stated["fixed"] == f"msq = 3000 GeV (2900 to 3200); {gluino}; {wino}"
    assert qcd_order(stated) == 2
    assert "unknown" not in {*stated.values()} - {stated["squark_mass_gev"]}


def test_images_of_five_digits_are_prepared(tmp_path: Path) -> None:
    """The numbers of train rows of each class and of components are those on the page."""
    rng, digits = np.random.default_rng(1), np.resize(np.arange(7.0), 63)
    names = [*(f"p{number}" for number in range(9)), "digit"]
    table = Table(
        dict(zip(names, [*rng.normal(size=(9, 63)), digits], strict=True)), units={}, metadata={}
    )
    (tmp_path / "images.csv").write_text(to_csv_text(table))
    number = number_with("among:")
    dataset = prepared(number, tmp_path / "images.csv")
    assert len(dataset.feature_names) == 4
    assert dataset.transforms["target"]["labels"] == [0, 1, 2, 3, 4]
    assert np.unique(dataset.target[dataset.split == 0], return_counts=True)[1].tolist() == [4] * 5
    assert preset(number).image == (3, 3)
