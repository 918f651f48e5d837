# Rules of the rounds of a program: is its surrogate accurate enough, and which points are next?


checkpoint judge:
    """Judge whether the surrogate of a round is accurate enough."""
    input:
        unpack(inputs.files_of_round),
    output:
        verdict="results/rounds/{dataset}.json",
        table="results/plots/rounds/{dataset}/rounds.csv",
        record="results/records/judge/{dataset}.json",
    log:
        "logs/judge/{dataset}.log",
    benchmark:
        "timings/judge/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(PLAN.rounds),
    conda:
        "../../environment.yml"
    resources:
        **needs.of("judge"),
    params:
        **specifications.fields_of_dataset("judge"),
        round=option_per_input("--round", "round"),
    shell:
        "nlobayes judge --spec {params.spec:q} --predictions {input.predictions:q}"
        " --dataset {input.dataset:q} --surrogate {input.surrogate:q} {params.round} --out {output.verdict:q}"
        " --table {output.table:q} --record {output.record:q} 2> {log:q}"


rule choose:
    """Choose the points of a round by the surrogate of the round before."""
    input:
        unpack(inputs.files_of_choice),
    output:
        points="results/points/{dataset}/design.parquet",
        record="results/records/choose/{dataset}.json",
    log:
        "logs/choose/{dataset}.log",
    benchmark:
        "timings/choose/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(PLAN.chosen_datasets),
    conda:
        "../../environment.yml"
    resources:
        **needs.of("choose"),
    params:
        **specifications.fields_of_dataset("choose"),
        points=option_per_input("--points", "points"),
    shell:
        "nlobayes choose --spec {params.spec:q} {params.points}"
        " --surrogate {input.surrogate:q} --out {output.points:q}"
        " --record {output.record:q} 2> {log:q}"
