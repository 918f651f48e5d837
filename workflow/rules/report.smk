# From tables to figures and the report.


rule plot:
    """Draw the figures of one run."""
    input:
        tables=expand(
            "results/plots/{{run}}/{table}.csv",
            table=[
                "trace",
                "convergence",
                "autocorrelation",
                "loss",
                "predictions",
                "coverage",
                "cases",
            ],
        ),
    output:
        trace=report(
            "results/figures/{run}/trace.svg",
            caption="../report/trace.rst",
            category="Convergence",
            subcategory="{run}",
        ),
        convergence=report(
            "results/figures/{run}/convergence.svg",
            caption="../report/convergence.rst",
            category="Convergence",
            subcategory="{run}",
        ),
        autocorrelation=report(
            "results/figures/{run}/autocorrelation.svg",
            caption="../report/autocorrelation.rst",
            category="Convergence",
            subcategory="{run}",
        ),
        loss=report(
            "results/figures/{run}/loss.svg",
            caption="../report/loss.rst",
            category="Pretraining",
            subcategory="{run}",
        ),
        predicted_vs_true=report(
            "results/figures/{run}/predicted_vs_true.svg",
            caption="../report/predicted_vs_true.rst",
            category="Accuracy",
            subcategory="{run}",
        ),
        residuals=report(
            "results/figures/{run}/residuals.svg",
            caption="../report/residuals.rst",
            category="Accuracy",
            subcategory="{run}",
        ),
        pulls=report(
            "results/figures/{run}/pulls.svg",
            caption="../report/pulls.rst",
            category="Calibration",
            subcategory="{run}",
        ),
        coverage=report(
            "results/figures/{run}/coverage.svg",
            caption="../report/coverage.rst",
            category="Calibration",
            subcategory="{run}",
        ),
        cases=report(
            "results/figures/{run}/cases.svg",
            caption="../report/cases.rst",
            category="Calibration",
            subcategory="{run}",
        ),
        png=expand("results/figures/{{run}}/{figure}.png", figure=FIGURES),
    log:
        "logs/plot/{run}.log",
    benchmark:
        "timings/plot/{run}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        tables=lambda wildcards, input: Path(input.tables[0]).parent.as_posix(),
        figures=lambda wildcards, output: Path(output.trace).parent.as_posix(),
        code=code_digest("plot"),
    shell:
        "nlobayes plot --tables {params.tables:q} --out {params.figures:q} 2> {log:q}"


for grid_name in STUDY.grids:

    rule:
        name:
            grid_name
        input:
            grid_outputs(grid_name),
