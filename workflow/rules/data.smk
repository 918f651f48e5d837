# From physics or a user's table to a dataset.


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
        dataset=one_of(SIMULATED),
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("simulate"),
        runtime=wall_time("simulate"),
    params:
        spec=dataset_job(simulate_job),
        code=code_of("simulate", dataset_job(simulate_job)),
    shell:
        "nlobayes simulate --spec {params.spec:q} --out {output.table:q}"
        " --record {output.record:q} 2> {log:q}"


rule ingest:
    """Turn a folder of SLHA files with Prospino's cross sections into a table."""
    input:
        folder=ancient(folder_of_files),
    output:
        table="results/tables/{dataset}.parquet",
        record="results/records/ingest/{dataset}.json",
    log:
        "logs/ingest/{dataset}.log",
    benchmark:
        "timings/ingest/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(INGESTED),
    conda:
        "../../environment.yml"
    threads: 4
    resources:
        mem_mb=memory("ingest"),
        runtime=wall_time("ingest"),
    params:
        spec=dataset_job(ingest_job),
        files=digest_of_files,
        code=code_of("ingest", dataset_job(ingest_job)),
    shell:
        "nlobayes ingest {input.folder:q} --spec {params.spec:q} --out {output.table:q}"
        " --record {output.record:q} --workers {threads} 2> {log:q}"


rule prepare:
    """Turn a table into a dataset: features, target, splits."""
    input:
        table=table_of,
    output:
        dataset="results/data/{dataset}.nc",
    log:
        "logs/prepare/{dataset}.log",
    benchmark:
        "timings/prepare/{dataset}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("prepare"),
        runtime=wall_time("prepare"),
    params:
        spec=dataset_job(prepare_job),
        table=digest_of_table,
        code=code_of("prepare", dataset_job(prepare_job)),
    shell:
        "nlobayes prepare --spec {params.spec:q} --table {input.table:q}"
        " --out {output.dataset:q} 2> {log:q}"
