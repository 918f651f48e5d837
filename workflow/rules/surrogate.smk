# Rules from a posterior to predictions and the surrogate.


rule thin:
    """Thin a posterior to nearly independent draws."""
    input:
        posterior="results/posterior/{run}.nc",
        diagnostics="results/metrics/{run}/diagnostics.json",
        dataset=inputs.dataset,
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
    resources:
        **needs.of("thin"),
    params:
        code=code_digest("thin", {}),
    shell:
        "nlobayes thin --posterior {input.posterior:q}"
        " --diagnostics {input.diagnostics:q} --dataset {input.dataset:q}"
        " --out {output.thinned:q} --table {output.table:q}"
        " --record {output.record:q} 2> {log:q}"


rule posterior_predictive:
    """Evaluate the posterior and the ensemble of MAPs at every point."""
    input:
        posterior="results/thinned/{run}.nc",
        dataset=inputs.dataset,
        starts=inputs.maps,
    output:
        predictions="results/predictions/{run}.nc",
    log:
        "logs/posterior_predictive/{run}.log",
    benchmark:
        "timings/posterior_predictive/{run}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("posterior_predictive"),
    params:
        **specifications.fields_of_run("posterior_predictive"),
        starts=option_per_input("--start", "starts"),
    shell:
        "nlobayes posterior_predictive --spec {params.spec:q} --posterior {input.posterior:q}"
        " --dataset {input.dataset:q} {params.starts}"
        " --out {output.predictions:q} 2> {log:q}"


rule export:
    """Write the surrogate: one file with predictions, error bars and their scores."""
    input:
        posterior="results/thinned/{run}.nc",
        dataset=inputs.dataset,
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
    resources:
        **needs.of("export"),
    params:
        **specifications.fields_of_run("export"),
    shell:
        "nlobayes export --spec {params.spec:q} --posterior {input.posterior:q}"
        " --dataset {input.dataset:q} --diagnostics {input.diagnostics:q}"
        " --evaluation {input.evaluation:q} --out {output.surrogate:q}"
        " --record {output.record:q} 2> {log:q}"
