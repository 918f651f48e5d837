# Rules from a design of points to a table, by a program of the user.


rule design:
    """Choose the points at which a program is called."""
    input:
        table=sources.table_of_points,
    output:
        points="results/points/{dataset}/design.parquet",
        record="results/records/design/{dataset}.json",
    log:
        "logs/design/{dataset}.log",
    benchmark:
        "timings/design/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of({*PLAN.datasets_made_by("gather")} - {*PLAN.chosen_datasets}),
    conda:
        "../../environment.yml"
    resources:
        **needs.of("design"),
    params:
        **specifications.fields_of_dataset("design"),
        table=sources.digest_of_files,
    shell:
        "nlobayes design --spec {params.spec:q} --out {output.points:q}"
        " --record {output.record:q} 2> {log:q}"


rule run_program:
    """Call a program at one chunk of points."""
    input:
        points=inputs.points,
    output:
        chunk="results/points/{dataset}/{chunk}.parquet",
        record="results/records/run_program/{dataset}/{chunk}.json",
    log:
        "logs/run_program/{dataset}/{chunk}.log",
    benchmark:
        "timings/run_program/{dataset}/{chunk}.tsv"
    wildcard_constraints:
        dataset=one_of(PLAN.datasets_made_by("gather")),
    conda:
        "../../environment.yml"
    threads: sources.points_at_once
    resources:
        **needs.of("run_program"),
    params:
        **specifications.fields_of_dataset("run_program"),
    shell:
        "nlobayes run_program --spec {params.spec:q} --points {input.points:q}"
        " --chunk {wildcards.chunk} --workers {threads} --out {output.chunk:q}"
        " --record {output.record:q} 2> {log:q}"


rule gather:
    """Join chunks of points into a table, and list the points that failed."""
    input:
        chunks=inputs.chunks,
    output:
        table="results/tables/{dataset}.parquet",
        failures="results/points/{dataset}/failures.csv",
        record="results/records/gather/{dataset}.json",
    log:
        "logs/gather/{dataset}.log",
    benchmark:
        "timings/gather/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(PLAN.datasets_made_by("gather")),
    conda:
        "../../environment.yml"
    resources:
        **needs.of("gather"),
    params:
        chunks=option_per_input("--chunk", "chunks"),
        code=code_digest("gather", {}),
    shell:
        "nlobayes gather {params.chunks} --out {output.table:q} --failures {output.failures:q}"
        " --record {output.record:q} 2> {log:q}"
