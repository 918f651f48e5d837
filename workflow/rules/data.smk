# Rules from simulations, SLHA files or tables to a dataset, and of the rivals of a dataset.

from nlobayes.workflow.figures import DATA_TABLES


rule simulate:
    """Compute a table of NLO cross sections with the embedded engine."""
    output:
        table="results/tables/{dataset}.parquet",
        record="results/records/simulate/{dataset}.json",
    log:
        "logs/simulate/{dataset}.log",
    benchmark:
        "timings/simulate/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(PLAN.datasets_made_by("simulate")),
    conda:
        "../../environment.yml"
    resources:
        **needs.of("simulate"),
    params:
        **specifications.fields_of_dataset("simulate"),
    shell:
        "nlobayes simulate --spec {params.spec:q} --out {output.table:q}"
        " --record {output.record:q} 2> {log:q}"


rule ingest:
    """Convert a folder of SLHA files with cross sections to a table."""
    input:
        folder=ancient(sources.folder),
    output:
        table="results/tables/{dataset}.parquet",
        record="results/records/ingest/{dataset}.json",
    log:
        "logs/ingest/{dataset}.log",
    benchmark:
        "timings/ingest/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(PLAN.datasets_made_by("ingest")),
    conda:
        "../../environment.yml"
    threads: 4
    resources:
        **needs.of("ingest"),
    params:
        **specifications.fields_of_dataset("ingest"),
        files=sources.digest_of_files,
    shell:
        "nlobayes ingest {input.folder:q} --spec {params.spec:q} --out {output.table:q}"
        " --record {output.record:q} --workers {threads} 2> {log:q}"


rule prepare:
    """Convert a table to a dataset: features, target, splits."""
    input:
        table=sources.table,
    output:
        dataset="results/data/{dataset}.nc",
    log:
        "logs/prepare/{dataset}.log",
    benchmark:
        "timings/prepare/{dataset}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("prepare"),
    params:
        **specifications.fields_of_dataset("prepare"),
        table=sources.digest_of_table,
    shell:
        "nlobayes prepare --spec {params.spec:q} --table {input.table:q}"
        " --out {output.dataset:q} 2> {log:q}"


rule describe:
    """Tabulate rows of a dataset for its figure."""
    input:
        dataset=rules.prepare.output.dataset,
    output:
        tables=tables(DATA_TABLES, "results/plots/data/{dataset}"),
        record="results/records/describe/{dataset}.json",
    log:
        "logs/describe/{dataset}.log",
    benchmark:
        "timings/describe/{dataset}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("describe"),
    params:
        plots=folder_of_outputs,
        code=code_digest("describe", {}),
    shell:
        "nlobayes describe --dataset {input.dataset:q} --plots {params.plots:q}"
        " --record {output.record:q} 2> {log:q}"


rule rival:
    """Fit a rival to the train rows of a dataset, and predict all rows."""
    input:
        dataset=inputs.dataset_of_rival,
    output:
        predictions="results/rivals/{dataset}/{rival}.nc",
        seconds="timings/rivals/{dataset}/{rival}.json",
    log:
        "logs/rival/{dataset}/{rival}.log",
    benchmark:
        "timings/rival/{dataset}/{rival}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("rival"),
    params:
        **specifications.fields_of_rival("rival"),
    shell:
        "nlobayes rival --spec {params.spec:q} --dataset {input.dataset:q}"
        " --out {output.predictions:q} --timing {output.seconds:q} 2> {log:q}"
