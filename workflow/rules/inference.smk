# From a dataset to a posterior: every chain is a line of jobs of its own.


rule pretrain:
    """Fit the MAP that one chain starts from."""
    input:
        dataset=dataset_of,
    output:
        start="results/pretrain/{run}/{chain}.nc",
    log:
        "logs/pretrain/{run}/{chain}.log",
    benchmark:
        "benchmarks/pretrain/{run}/{chain}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        spec=job("pretrain"),
        code=code_digest("pretrain"),
    shell:
        "nlobayes pretrain --spec {params.spec:q} --dataset {input.dataset:q}"
        " --chain {wildcards.chain} --out {output.start:q} 2> {log:q}"


rule warmup:
    """Adapt step size and mass matrix of one chain."""
    input:
        dataset=dataset_of,
        start="results/pretrain/{run}/{chain}.nc",
    output:
        warmup="results/chains/{run}/{chain}/warmup.nc",
    log:
        "logs/warmup/{run}/{chain}.log",
    benchmark:
        "benchmarks/warmup/{run}/{chain}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        spec=job("warmup"),
        code=code_digest("warmup"),
    shell:
        "nlobayes warmup --spec {params.spec:q} --dataset {input.dataset:q}"
        " --start {input.start:q} --out {output.warmup:q} 2> {log:q}"


rule draw:
    """Draw one segment of one chain, continuing from the one before."""
    input:
        dataset=dataset_of,
        previous=before_segment,
    output:
        segment="results/chains/{run}/{chain}/segment_{segment}.nc",
    log:
        "logs/draw/{run}/{chain}/{segment}.log",
    benchmark:
        "benchmarks/draw/{run}/{chain}/{segment}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        spec=job("draw"),
        code=code_digest("draw"),
    shell:
        "nlobayes draw --spec {params.spec:q} --dataset {input.dataset:q}"
        " --previous {input.previous:q} --out {output.segment:q} 2> {log:q}"


rule assemble:
    """Join all chains into one posterior."""
    input:
        dataset=dataset_of,
        warmups=per_chain("results/chains/{run}/{chain}/warmup.nc"),
        segments=all_segments,
    output:
        posterior="results/posterior/{run}.nc",
    log:
        "logs/assemble/{run}.log",
    benchmark:
        "benchmarks/assemble/{run}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=30,
    params:
        warmups=lambda wildcards, input: repeat_option("--warmup", input.warmups),
        segments=lambda wildcards, input: repeat_option("--segment", input.segments),
        code=code_digest("assemble"),
    shell:
        "nlobayes assemble --dataset {input.dataset:q} {params.warmups}"
        " {params.segments} --out {output.posterior:q} 2> {log:q}"
