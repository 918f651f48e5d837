# Rules from a dataset to a posterior. Every chain group has its own sequence of jobs.


rule pretrain:
    """Fit the MAP that one chain starts from."""
    input:
        dataset=sources.dataset_of_model,
        before=inputs.map_of_round_before,
    output:
        start="results/pretrain/{model}/{chain}.nc",
    log:
        "logs/pretrain/{model}/{chain}.log",
    benchmark:
        "timings/pretrain/{model}/{chain}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("pretrain"),
    params:
        **specifications.fields_of_model("pretrain"),
        before=option_per_input("--before", "before"),
    shell:
        "nlobayes pretrain --spec {params.spec:q} --dataset {input.dataset:q} {params.before}"
        " --chain {wildcards.chain} --out {output.start:q} 2> {log:q}"


rule warmup:
    """Adapt one chain group, or continue its adaptation."""
    input:
        dataset=inputs.dataset,
        starts=inputs.maps_of_chain_group,
        previous=inputs.warmup_before,
    output:
        warmup="results/chains/{run}/{chain_group}/warmup_{segment}.nc",
    log:
        "logs/warmup/{run}/{chain_group}/{segment}.log",
    benchmark:
        "timings/warmup/{run}/{chain_group}/{segment}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("warmup"),
    params:
        **specifications.fields_of_run("warmup"),
        begin=options.begin_warmup,
    shell:
        "nlobayes warmup --spec {params.spec:q} --dataset {input.dataset:q}"
        " {params.begin} --chain-group {wildcards.chain_group} --out {output.warmup:q} 2> {log:q}"


rule draw:
    """Draw one segment of one chain group, continuing the previous one."""
    input:
        dataset=inputs.dataset,
        previous=inputs.segment_before,
        verdict=inputs.verdict_before,
    output:
        segment="results/chains/{run}/{chain_group}/segment_{segment}.nc",
    log:
        "logs/draw/{run}/{chain_group}/{segment}.log",
    benchmark:
        "timings/draw/{run}/{chain_group}/{segment}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("draw"),
    params:
        **specifications.fields_of_run("draw"),
        verdict=option_per_input("--verdict", "verdict"),
    shell:
        "nlobayes draw --spec {params.spec:q} --dataset {input.dataset:q}"
        " --previous {input.previous:q} {params.verdict} --chain-group {wildcards.chain_group}"
        " --out {output.segment:q} 2> {log:q}"


rule check_convergence:
    """Check whether the segments so far have converged."""
    input:
        segments=inputs.segments_so_far,
        before=inputs.verdict_before,
    output:
        verdict="results/chains/{run}/verdict_{segment}.json",
        record="results/records/check_convergence/{run}/{segment}.json",
    log:
        "logs/check_convergence/{run}/{segment}.log",
    benchmark:
        "timings/check_convergence/{run}/{segment}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("check_convergence"),
    params:
        **specifications.fields_of_run("check_convergence"),
        segments=option_per_input("--segment", "segments"),
        before=option_per_input("--verdict", "before"),
    shell:
        "nlobayes check_convergence --spec {params.spec:q} {params.segments} {params.before}"
        " --out {output.verdict:q} --record {output.record:q} 2> {log:q}"


rule approximate:
    """Compute a posterior by an approximate method."""
    input:
        dataset=inputs.dataset,
        starts=inputs.maps,
    output:
        posterior="results/posterior/{run}.nc",
    log:
        "logs/approximate/{run}.log",
    benchmark:
        "timings/approximate/{run}.tsv"
    wildcard_constraints:
        run=runs_made_by("approximate", PLAN),
    conda:
        "../../environment.yml"
    resources:
        **needs.of("approximate"),
    params:
        **specifications.fields_of_run("approximate"),
        starts=option_per_input("--start", "starts"),
    shell:
        "nlobayes approximate --spec {params.spec:q} --dataset {input.dataset:q}"
        " {params.starts} --out {output.posterior:q} 2> {log:q}"


rule sample:
    """Sample a posterior by PyMC's NUTS."""
    input:
        dataset=inputs.dataset,
    output:
        posterior="results/posterior/{run}.nc",
    log:
        "logs/sample/{run}.log",
    benchmark:
        "timings/sample/{run}.tsv"
    wildcard_constraints:
        run=runs_made_by("sample", PLAN),
    conda:
        "../../environment.yml"
    resources:
        **needs.of("sample"),
    params:
        **specifications.fields_of_run("sample"),
    shell:
        "nlobayes sample --spec {params.spec:q} --dataset {input.dataset:q}"
        " --out {output.posterior:q} 2> {log:q}"


rule assemble:
    """Join all chains into one posterior."""
    input:
        dataset=inputs.dataset,
        warmups=inputs.warmups,
        segments=inputs.segments,
    output:
        posterior="results/posterior/{run}.nc",
    log:
        "logs/assemble/{run}.log",
    benchmark:
        "timings/assemble/{run}.tsv"
    wildcard_constraints:
        run=runs_in_segments(PLAN),
    conda:
        "../../environment.yml"
    resources:
        **needs.of("assemble"),
    params:
        warmups=option_per_input("--warmup", "warmups"),
        segments=option_per_input("--segment", "segments"),
        code=code_digest("assemble", {}),
    shell:
        "nlobayes assemble --dataset {input.dataset:q} {params.warmups}"
        " {params.segments} --out {output.posterior:q} 2> {log:q}"
