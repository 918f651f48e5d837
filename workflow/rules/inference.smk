# From a dataset to a posterior: every chain is a line of jobs of its own.


rule pretrain:
    """Fit the MAP that one chain starts from."""
    input:
        dataset=dataset_of_model,
    output:
        start="results/pretrain/{model}/{chain}.nc",
    log:
        "logs/pretrain/{model}/{chain}.log",
    benchmark:
        "timings/pretrain/{model}/{chain}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("pretrain"),
        runtime=wall_time("pretrain"),
        gpu=gpus,
    params:
        spec=model_job("pretrain"),
        code=code_of("pretrain", model_job("pretrain")),
    shell:
        "nlobayes pretrain --spec {params.spec:q} --dataset {input.dataset:q}"
        " --chain {wildcards.chain} --out {output.start:q} 2> {log:q}"


rule warmup:
    """Adapt one block of chains, or go on adapting it."""
    input:
        dataset=dataset_of,
        starts=starts_of_block,
        previous=before_warmup,
    output:
        warmup="results/chains/{run}/{block}/warmup_{piece}.nc",
    log:
        "logs/warmup/{run}/{block}/{piece}.log",
    benchmark:
        "timings/warmup/{run}/{block}/{piece}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("warmup"),
        runtime=wall_time("warmup"),
        gpu=gpus,
    params:
        spec=job("warmup"),
        begin=begin_warmup,
        code=code_of("warmup", job("warmup")),
    shell:
        "nlobayes warmup --spec {params.spec:q} --dataset {input.dataset:q}"
        " {params.begin} --block {wildcards.block} --out {output.warmup:q} 2> {log:q}"


rule draw:
    """Draw one segment of one block of chains, continuing from the one before."""
    input:
        dataset=dataset_of,
        previous=before_segment,
        verdict=verdict_before,
    output:
        segment="results/chains/{run}/{block}/segment_{segment}.nc",
    log:
        "logs/draw/{run}/{block}/{segment}.log",
    benchmark:
        "timings/draw/{run}/{block}/{segment}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("draw"),
        runtime=wall_time("draw"),
        gpu=gpus,
    params:
        spec=job("draw"),
        verdict=lambda wildcards, input: repeat_option("--verdict", input.verdict),
        code=code_of("draw", job("draw")),
    shell:
        "nlobayes draw --spec {params.spec:q} --dataset {input.dataset:q}"
        " --previous {input.previous:q} {params.verdict} --block {wildcards.block}"
        " --out {output.segment:q} 2> {log:q}"


rule judge:
    """Judge whether the segments so far have converged."""
    input:
        segments=segments_so_far,
    output:
        verdict="results/chains/{run}/verdict_{segment}.json",
        record="results/records/judge/{run}/{segment}.json",
    log:
        "logs/judge/{run}/{segment}.log",
    benchmark:
        "timings/judge/{run}/{segment}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("judge"),
        runtime=wall_time("judge"),
    params:
        spec=job("judge"),
        segments=lambda wildcards, input: repeat_option("--segment", input.segments),
        code=code_of("judge", job("judge")),
    shell:
        "nlobayes judge --spec {params.spec:q} {params.segments}"
        " --out {output.verdict:q} --record {output.record:q} 2> {log:q}"


rule assemble:
    """Join all chains into one posterior."""
    input:
        dataset=dataset_of,
        warmups=all_warmups,
        segments=all_segments,
    output:
        posterior="results/posterior/{run}.nc",
    log:
        "logs/assemble/{run}.log",
    benchmark:
        "timings/assemble/{run}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("assemble"),
        runtime=wall_time("assemble"),
    params:
        warmups=lambda wildcards, input: repeat_option("--warmup", input.warmups),
        segments=lambda wildcards, input: repeat_option("--segment", input.segments),
        code=code_digest("assemble"),
    shell:
        "nlobayes assemble --dataset {input.dataset:q} {params.warmups}"
        " {params.segments} --out {output.posterior:q} 2> {log:q}"
