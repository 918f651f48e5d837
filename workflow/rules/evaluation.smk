# From a posterior to its verdict and its scores.


rule diagnose:
    """Judge the convergence of a posterior in function space."""
    input:
        posterior="results/posterior/{run}.nc",
    output:
        diagnostics="results/metrics/{run}/diagnostics.json",
        record="results/records/diagnose/{run}.json",
    log:
        "logs/diagnose/{run}.log",
    benchmark:
        "timings/diagnose/{run}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("diagnose"),
        runtime=wall_time("diagnose"),
    params:
        spec=job("diagnose"),
        code=code_of("diagnose", job("diagnose")),
    shell:
        "nlobayes diagnose --spec {params.spec:q} --posterior {input.posterior:q}"
        " --out {output.diagnostics:q} --record {output.record:q} 2> {log:q}"


rule evaluate:
    """Score predictions and their error bars, beside the baseline."""
    input:
        predictions="results/predictions/{run}.nc",
        dataset=dataset_of,
    output:
        evaluation="results/metrics/{run}/evaluation.json",
        record="results/records/evaluate/{run}.json",
    log:
        "logs/evaluate/{run}.log",
    benchmark:
        "timings/evaluate/{run}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("evaluate"),
        runtime=wall_time("evaluate"),
    params:
        spec=job("evaluate"),
        code=code_of("evaluate", job("evaluate")),
    shell:
        "nlobayes evaluate --spec {params.spec:q} --predictions {input.predictions:q}"
        " --dataset {input.dataset:q} --out {output.evaluation:q}"
        " --record {output.record:q} 2> {log:q}"


rule tabulate:
    """Tabulate what the figures of a run show."""
    input:
        posterior="results/posterior/{run}.nc",
        diagnostics="results/metrics/{run}/diagnostics.json",
        predictions="results/predictions/{run}.nc",
        evaluation="results/metrics/{run}/evaluation.json",
        dataset=dataset_of,
        starts=all_starts,
    output:
        tables=expand(
            "results/plots/{{run}}/{table}.csv",
            table=tabulated(Of.RUNS, Of.NUMBERS, Of.ONE_FEATURE, Of.KNOWN_SCALE),
        ),
        record="results/records/tabulate/{run}.json",
    log:
        "logs/tabulate/{run}.log",
    benchmark:
        "timings/tabulate/{run}.tsv"
    wildcard_constraints:
        run=RUN_OF_NUMBERS,
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("tabulate"),
        runtime=wall_time("tabulate"),
    params:
        spec=job("tabulate"),
        starts=lambda wildcards, input: repeat_option("--start", input.starts),
        plots=lambda wildcards, output: Path(output.tables[0]).parent.as_posix(),
        code=code_of("tabulate", job("tabulate")),
    shell:
        "nlobayes tabulate --spec {params.spec:q} --posterior {input.posterior:q}"
        " --diagnostics {input.diagnostics:q} --predictions {input.predictions:q}"
        " --evaluation {input.evaluation:q} --dataset {input.dataset:q}"
        " {params.starts} --plots {params.plots:q} --record {output.record:q} 2> {log:q}"


rule tabulate_classes:
    """Tabulate what the figures of a run of classes show."""
    input:
        posterior="results/posterior/{run}.nc",
        diagnostics="results/metrics/{run}/diagnostics.json",
        predictions="results/predictions/{run}.nc",
        evaluation="results/metrics/{run}/evaluation.json",
        dataset=dataset_of,
        starts=all_starts,
    output:
        tables=expand(
            "results/plots/{{run}}/{table}.csv",
            table=tabulated(Of.RUNS, Of.CLASSES),
        ),
        record="results/records/tabulate_classes/{run}.json",
    log:
        "logs/tabulate_classes/{run}.log",
    benchmark:
        "timings/tabulate_classes/{run}.tsv"
    wildcard_constraints:
        run=RUN_OF_CLASSES,
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("tabulate_classes"),
        runtime=wall_time("tabulate_classes"),
    params:
        spec=job("tabulate"),
        starts=lambda wildcards, input: repeat_option("--start", input.starts),
        plots=lambda wildcards, output: Path(output.tables[0]).parent.as_posix(),
        code=code_of("tabulate_classes", job("tabulate")),
    shell:
        "nlobayes tabulate_classes --spec {params.spec:q}"
        " --posterior {input.posterior:q} --diagnostics {input.diagnostics:q}"
        " --predictions {input.predictions:q} --evaluation {input.evaluation:q}"
        " --dataset {input.dataset:q} {params.starts} --plots {params.plots:q}"
        " --record {output.record:q} 2> {log:q}"


rule agree:
    """Compare what several samplers say of one posterior."""
    input:
        posteriors=rival_posteriors,
    output:
        agreement="results/metrics/agreement/{rivals}.json",
        record="results/records/agree/{rivals}.json",
    log:
        "logs/agree/{rivals}.log",
    benchmark:
        "timings/agree/{rivals}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("agree"),
        runtime=wall_time("agree"),
    params:
        posteriors=lambda wildcards, input: repeat_option(
            "--posterior", input.posteriors
        ),
        code=code_digest("agree"),
    shell:
        "nlobayes agree {params.posteriors} --out {output.agreement:q}"
        " --record {output.record:q} 2> {log:q}"


rule landscape:
    """Survey the energy in the plane of three MAPs and along the low path between two."""
    input:
        dataset=dataset_of_model,
        starts=starts_of_plane,
    output:
        tables=expand(
            "results/plots/landscape/{{model}}/{table}.csv",
            table=tables_of(Of.MAPS),
        ),
        record="results/records/landscape/{model}.json",
    log:
        "logs/landscape/{model}.log",
    benchmark:
        "timings/landscape/{model}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("landscape"),
        runtime=wall_time("landscape"),
        gpu=gpus,
    params:
        spec=model_job("landscape"),
        starts=lambda wildcards, input: repeat_option("--start", input.starts),
        plots=lambda wildcards, output: Path(output.tables[0]).parent.as_posix(),
        code=code_of("landscape", model_job("landscape")),
    shell:
        "nlobayes landscape --spec {params.spec:q} --dataset {input.dataset:q}"
        " {params.starts} --plots {params.plots:q} --record {output.record:q} 2> {log:q}"


rule prior_predictive:
    """Draw f from the prior of a model at the reference rows, before any data."""
    input:
        dataset=dataset_of_model,
    output:
        tables=expand(
            "results/plots/prior_predictive/{{model}}/{table}.csv",
            table=tables_of(Of.PRIORS),
        ),
        record="results/records/prior_predictive/{model}.json",
    log:
        "logs/prior_predictive/{model}.log",
    benchmark:
        "timings/prior_predictive/{model}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("prior_predictive"),
        runtime=wall_time("prior_predictive"),
    params:
        spec=model_job("prior_predictive"),
        plots=lambda wildcards, output: Path(output.tables[0]).parent.as_posix(),
        code=code_of("prior_predictive", model_job("prior_predictive")),
    shell:
        "nlobayes prior_predictive --spec {params.spec:q} --dataset {input.dataset:q}"
        " --plots {params.plots:q} --record {output.record:q} 2> {log:q}"


rule compare:
    """Set the runs of a grid side by side, with paired differences."""
    input:
        metrics=grid_metrics,
    output:
        tables=expand(
            "results/plots/comparison/{{grid}}/{table}.csv",
            table=["differences", "scanned"],
        ),
        runs=report(
            "results/plots/comparison/{grid}/runs.csv",
            caption="../report/runs.rst",
            category="Comparison",
            subcategory="{grid}",
        ),
        text="results/plots/comparison/{grid}/table.md",
        record="results/records/compare/{grid}.json",
    log:
        "logs/compare/{grid}.log",
    benchmark:
        "timings/compare/{grid}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("compare"),
        runtime=wall_time("compare"),
    params:
        spec=lambda wildcards: COMPARED[wildcards.grid].model_dump_json(),
        folder=lambda wildcards, output: Path(output.runs).parent.as_posix(),
        code=code_digest("compare"),
    shell:
        "nlobayes compare --spec - --out {params.folder:q}"
        " --record {output.record:q} > {log:q} 2>&1 <<< {params.spec:q}"


rule speed:
    """Time sampling, prediction and loading of the networks of a grid."""
    input:
        datasets=grid_datasets,
    output:
        table="timings/speed/{grid}/speed.csv",
    log:
        "logs/speed/{grid}.log",
    conda:
        "../../environment.yml"
    threads: workflow.cores
    resources:
        mem_mb=8000,
        runtime=120,
    params:
        spec=lambda wildcards: speed_job(
            [*STUDY.runs(wildcards.grid)]
        ).model_dump_json(),
        datasets=lambda wildcards, input: repeat_option("--dataset", input.datasets),
    shell:
        "nlobayes speed --spec - {params.datasets}"
        " --out {output.table:q} 2> {log:q} <<< {params.spec:q}"
