# From a posterior to its verdict and its scores.


rule diagnose:
    """Judge the convergence of a posterior in function space."""
    input:
        posterior="results/posterior/{run}.nc",
        starts=per_chain("results/pretrain/{run}/{chain}.nc"),
    output:
        diagnostics="results/metrics/{run}/diagnostics.json",
        tables=expand(
            "results/plots/{{run}}/{table}.csv",
            table=["trace", "convergence", "autocorrelation", "loss"],
        ),
    log:
        "logs/diagnose/{run}.log",
    benchmark:
        "timings/diagnose/{run}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        spec=job("diagnose"),
        starts=lambda wildcards, input: repeat_option("--start", input.starts),
        plots=lambda wildcards, output: Path(output.tables[0]).parent.as_posix(),
        code=code_digest("diagnose"),
    shell:
        "nlobayes diagnose --spec {params.spec:q} --posterior {input.posterior:q}"
        " {params.starts} --out {output.diagnostics:q} --plots {params.plots:q} 2> {log:q}"


rule evaluate:
    """Score predictions and their error bars, beside the baseline."""
    input:
        predictions="results/predictions/{run}.nc",
        dataset=dataset_of,
    output:
        evaluation="results/metrics/{run}/evaluation.json",
        tables=expand(
            "results/plots/{{run}}/{table}.csv",
            table=["predictions", "coverage", "cases"],
        ),
    log:
        "logs/evaluate/{run}.log",
    benchmark:
        "timings/evaluate/{run}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        spec=job("evaluate"),
        plots=lambda wildcards, output: Path(output.tables[0]).parent.as_posix(),
        code=code_digest("evaluate"),
    shell:
        "nlobayes evaluate --spec {params.spec:q} --predictions {input.predictions:q}"
        " --dataset {input.dataset:q} --out {output.evaluation:q}"
        " --plots {params.plots:q} 2> {log:q}"


rule agree:
    """Compare what several samplers say of one posterior."""
    input:
        posteriors=rival_posteriors,
    output:
        agreement="results/metrics/agreement/{rivals}.json",
    log:
        "logs/agree/{rivals}.log",
    benchmark:
        "timings/agree/{rivals}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        posteriors=lambda wildcards, input: repeat_option(
            "--posterior", input.posteriors
        ),
        code=code_digest("agree"),
    shell:
        "nlobayes agree {params.posteriors} --out {output.agreement:q} 2> {log:q}"
