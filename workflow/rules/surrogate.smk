# From a posterior to predictions.


rule thin:
    """Keep as many draws as are nearly independent."""
    input:
        posterior="results/posterior/{run}.nc",
        diagnostics="results/metrics/{run}/diagnostics.json",
        dataset=dataset_of,
    output:
        thinned="results/thinned/{run}.nc",
        table="results/plots/{run}/thinning.csv",
        record="results/records/thin/{run}.json",
    log:
        "logs/thin/{run}.log",
    benchmark:
        "timings/thin/{run}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("thin"),
        runtime=wall_time("thin"),
    params:
        code=code_digest("thin"),
    shell:
        "nlobayes thin --posterior {input.posterior:q}"
        " --diagnostics {input.diagnostics:q} --dataset {input.dataset:q}"
        " --out {output.thinned:q} --table {output.table:q}"
        " --record {output.record:q} 2> {log:q}"


rule propagate:
    """Evaluate the posterior and the ensemble of MAPs at every point."""
    input:
        posterior="results/thinned/{run}.nc",
        dataset=dataset_of,
        starts=all_starts,
    output:
        predictions="results/predictions/{run}.nc",
    log:
        "logs/propagate/{run}.log",
    benchmark:
        "timings/propagate/{run}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("propagate"),
        runtime=wall_time("propagate"),
    params:
        spec=job("propagate"),
        starts=lambda wildcards, input: repeat_option("--start", input.starts),
        code=code_of("propagate", job("propagate")),
    shell:
        "nlobayes propagate --spec {params.spec:q} --posterior {input.posterior:q}"
        " --dataset {input.dataset:q} {params.starts}"
        " --out {output.predictions:q} 2> {log:q}"


rule export:
    """Write the surrogate: one file that predicts with error bars, and says how good they are."""
    input:
        posterior="results/thinned/{run}.nc",
        dataset=dataset_of,
        diagnostics="results/metrics/{run}/diagnostics.json",
        evaluation="results/metrics/{run}/evaluation.json",
    output:
        surrogate="results/surrogates/{run}.nc",
        record="results/records/export/{run}.json",
    log:
        "logs/export/{run}.log",
    benchmark:
        "timings/export/{run}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("export"),
        runtime=wall_time("export"),
    params:
        spec=job("export"),
        code=code_of("export", job("export")),
    shell:
        "nlobayes export --spec {params.spec:q} --posterior {input.posterior:q}"
        " --dataset {input.dataset:q} --diagnostics {input.diagnostics:q}"
        " --evaluation {input.evaluation:q} --out {output.surrogate:q}"
        " --record {output.record:q} 2> {log:q}"
