"""Draw one segment of one chain."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset, read_state, write_segment
from nlobayes.study.jobs import DrawJob, read_job
from nlobayes.types import Segment
from nlobayes.verbs import runtime
from nlobayes.verbs.progress import pieces


def draw(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    dataset: Annotated[Path, typer.Option(help="Dataset of the posterior.")],
    previous: Annotated[Path, typer.Option(help="Warm-up or segment to continue from.")],
    out: Annotated[Path, typer.Option(help="Segment to write.")],
) -> None:
    """Continue a chain from its last state and write the draws with the new state."""
    job = read_job(DrawJob, spec)
    runtime.configure(job.model.precision)
    import jax

    from nlobayes import build
    from nlobayes.inference import records, sampling

    data, begin = read_dataset(dataset), read_state(previous)
    model = build.build_model(job.model, data)
    kernel = build.build_kernel(job.kernel, model.logdensity_fn)
    observe = build.observer(model, data)
    key = build.chain_key(job.seed, "draw", begin.chain)
    state, tuned = records.restore(begin)
    unit = job.keep_every

    def draw_piece(state: Any, first: int, kept: int) -> Any:
        return sampling.draw(
            key, kernel, state, tuned, first=first, kept=kept, keep_every=unit, observe=observe
        )

    step = jax.jit(draw_piece, static_argnames="kept")
    drawn = []
    for first, kept in pieces(job.draws // unit, unit, f"draws of chain {begin.chain}"):
        state, piece = step(state, begin.next_draw + first * unit, kept=kept)
        drawn.append(jax.device_get(piece))
    draws = records.join(drawn)
    noise = {name: value for name, value in draws.observed.items() if name != "f"}
    segment = Segment(
        first_draw=begin.next_draw,
        keep_every=unit,
        variables=build.name_variables(model, draws.kept),
        stats={**records.sample_stats(draws.info, draws.logdensity), **noise},
        function=draws.observed["f"],
        end=records.chain_state(begin.chain, begin.next_draw + job.draws, state, tuned),
    )
    facts = {"device": runtime.device(), "exact": kernel.exact}
    write_segment(out, segment, provenance.record("draw", job.model_dump(), **facts))
