# Rules from a posterior to its verdict and its scores.

from nlobayes.workflow.figures import (
    CLASSES,
    COMPARED,
    LANDSCAPE_TABLES,
    NUMBERS,
    PRIOR_TABLES,
)


rule diagnose:
    """Check the convergence of a posterior in function space."""
    input:
        posterior="results/posterior/{run}.nc",
    output:
        diagnostics="results/metrics/{run}/diagnostics.json",
        record="results/records/diagnose/{run}.json",
    log:
        "logs/diagnose/{run}.log",
    benchmark:
        "timings/diagnose/{run}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("diagnose"),
    params:
        **specifications.fields_of_run("diagnose"),
    shell:
        "nlobayes diagnose --spec {params.spec:q} --posterior {input.posterior:q}"
        " --out {output.diagnostics:q} --record {output.record:q} 2> {log:q}"


rule evaluate:
    """Score predictions and their error bars, and those of the baseline."""
    input:
        predictions="results/predictions/{run}.nc",
        dataset=inputs.dataset,
        rivals=inputs.rivals,
    output:
        evaluation="results/metrics/{run}/evaluation.json",
        record="results/records/evaluate/{run}.json",
    log:
        "logs/evaluate/{run}.log",
    benchmark:
        "timings/evaluate/{run}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("evaluate"),
    params:
        **specifications.fields_of_run("evaluate"),
        rivals=option_per_input("--rival", "rivals"),
    shell:
        "nlobayes evaluate --spec {params.spec:q} --predictions {input.predictions:q}"
        " --dataset {input.dataset:q} {params.rivals} --out {output.evaluation:q}"
        " --record {output.record:q} 2> {log:q}"


rule tabulate_chains:
    """Tabulate the data of the figures of chains."""
    input:
        posterior="results/posterior/{run}.nc",
        dataset=inputs.dataset,
    output:
        tables=tables(tabulated_of_chains()),
        record="results/records/tabulate_chains/{run}.json",
    log:
        "logs/tabulate_chains/{run}.log",
    benchmark:
        "timings/tabulate_chains/{run}.tsv"
    wildcard_constraints:
        run=runs_of_chains(PLAN),
    conda:
        "../../environment.yml"
    resources:
        **needs.of("tabulate_chains"),
    params:
        **specifications.fields_of_run("tabulate_chains"),
        plots=folder_of_outputs,
    shell:
        "nlobayes tabulate_chains --spec {params.spec:q} --posterior {input.posterior:q}"
        " --dataset {input.dataset:q} --plots {params.plots:q}"
        " --record {output.record:q} 2> {log:q}"


rule tabulate_sizes:
    """Tabulate the drawn sizes of a network."""
    input:
        posterior="results/posterior/{run}.nc",
        predictions="results/predictions/{run}.nc",
        dataset=inputs.dataset,
    output:
        tables=tables(tabulated_of_sizes()),
        record="results/records/tabulate_sizes/{run}.json",
    log:
        "logs/tabulate_sizes/{run}.log",
    benchmark:
        "timings/tabulate_sizes/{run}.tsv"
    wildcard_constraints:
        run=runs_of_drawn_sizes(PLAN),
    conda:
        "../../environment.yml"
    resources:
        **needs.of("tabulate_sizes"),
    params:
        **specifications.fields_of_run("tabulate_sizes"),
        plots=folder_of_outputs,
    shell:
        "nlobayes tabulate_sizes --spec {params.spec:q} --posterior {input.posterior:q}"
        " --predictions {input.predictions:q} --dataset {input.dataset:q}"
        " --plots {params.plots:q} --record {output.record:q} 2> {log:q}"


rule tabulate:
    """Tabulate the data of the figures of a run."""
    input:
        diagnostics="results/metrics/{run}/diagnostics.json",
        predictions="results/predictions/{run}.nc",
        evaluation="results/metrics/{run}/evaluation.json",
        dataset=inputs.dataset,
        starts=inputs.maps,
    output:
        tables=tables(NUMBERS.tables),
        record="results/records/tabulate/{run}.json",
    log:
        "logs/tabulate/{run}.log",
    benchmark:
        "timings/tabulate/{run}.tsv"
    wildcard_constraints:
        run=runs_of(NUMBERS, PLAN),
    conda:
        "../../environment.yml"
    resources:
        **needs.of("tabulate"),
    params:
        **specifications.fields_of_run("tabulate"),
        starts=option_per_input("--start", "starts"),
        plots=folder_of_outputs,
    shell:
        "nlobayes tabulate --spec {params.spec:q} --diagnostics {input.diagnostics:q} --predictions {input.predictions:q}"
        " --evaluation {input.evaluation:q} --dataset {input.dataset:q}"
        " {params.starts} --plots {params.plots:q} --record {output.record:q} 2> {log:q}"


use rule tabulate as tabulate_classes with:
    output:
        tables=tables(CLASSES.tables),
        record="results/records/tabulate_classes/{run}.json",
    log:
        "logs/tabulate_classes/{run}.log",
    benchmark:
        "timings/tabulate_classes/{run}.tsv"
    wildcard_constraints:
        run=runs_of(CLASSES, PLAN),


rule agree:
    """Compare the draws of several samplers from one posterior."""
    input:
        posteriors=inputs.posteriors,
    output:
        agreement="results/metrics/agreement/{samplers}.json",
        record="results/records/agree/{samplers}.json",
    log:
        "logs/agree/{samplers}.log",
    benchmark:
        "timings/agree/{samplers}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("agree"),
    params:
        posteriors=option_per_input("--posterior", "posteriors"),
        code=code_digest("agree", {}),
    shell:
        "nlobayes agree {params.posteriors} --out {output.agreement:q}"
        " --record {output.record:q} 2> {log:q}"


rule fidelity:
    """Compare approximate posteriors with the exact one of the same model and seed."""
    input:
        unpack(inputs.held_against),
    output:
        fidelity="results/metrics/fidelity/{approximated}.json",
        table="timings/fidelity/{approximated}/fidelity.csv",
        record="results/records/fidelity/{approximated}.json",
    log:
        "logs/fidelity/{approximated}.log",
    benchmark:
        "timings/fidelity/{approximated}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("fidelity"),
    params:
        spec=specifications.fidelity_job,
        code=code_digest("fidelity", {}),
        predictions=option_per_input("--predictions", "predictions"),
        posterior=option_per_input("--posterior", "posterior"),
        evaluation=option_per_input("--evaluation", "evaluation"),
        diagnostics=option_per_input("--diagnostics", "diagnostics"),
    shell:
        "nlobayes fidelity --spec - {params.predictions} {params.posterior}"
        " {params.evaluation} {params.diagnostics} --out {output.fidelity:q}"
        " --table {output.table:q} --record {output.record:q} 2> {log:q} <<< {params.spec:q}"


rule landscape:
    """Tabulate the energy in the plane of three MAPs and along paths between two of them."""
    input:
        dataset=sources.dataset_of_model,
        starts=inputs.maps_of_plane,
    output:
        tables=tables(LANDSCAPE_TABLES, "results/plots/landscape/{model}"),
        record="results/records/landscape/{model}.json",
    log:
        "logs/landscape/{model}.log",
    benchmark:
        "timings/landscape/{model}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("landscape"),
    params:
        **specifications.fields_of_model("landscape"),
        starts=option_per_input("--start", "starts"),
        plots=folder_of_outputs,
    shell:
        "nlobayes landscape --spec {params.spec:q} --dataset {input.dataset:q}"
        " {params.starts} --plots {params.plots:q} --record {output.record:q} 2> {log:q}"


rule prior_predictive:
    """Draw f from the prior of a model at the reference points."""
    input:
        dataset=sources.dataset_of_model,
    output:
        tables=tables(PRIOR_TABLES, "results/plots/prior_predictive/{model}"),
        record="results/records/prior_predictive/{model}.json",
    log:
        "logs/prior_predictive/{model}.log",
    benchmark:
        "timings/prior_predictive/{model}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("prior_predictive"),
    params:
        **specifications.fields_of_model("prior_predictive"),
        plots=folder_of_outputs,
    shell:
        "nlobayes prior_predictive --spec {params.spec:q} --dataset {input.dataset:q}"
        " --plots {params.plots:q} --record {output.record:q} 2> {log:q}"


rule compare:
    """Compare the runs of a grid, with paired differences."""
    input:
        metrics=inputs.metrics,
    output:
        tables=tables(COMPARED, "results/plots/comparison/{grid}"),
        runs=report(
            "results/plots/comparison/{grid}/runs.csv",
            caption="../report/runs.rst",
            category="Comparison",
            subcategory="{grid}",
            labels={"figure": "table of runs"},
        ),
        text="results/plots/comparison/{grid}/table.md",
        record="results/records/compare/{grid}.json",
    log:
        "logs/compare/{grid}.log",
    benchmark:
        "timings/compare/{grid}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **needs.of("compare"),
    params:
        spec=specifications.comparison_job,
        folder=folder_of_outputs,
        code=code_digest("compare", {}),
    shell:
        "nlobayes compare --spec - --out {params.folder:q}"
        " --record {output.record:q} > {log:q} 2>&1 <<< {params.spec:q}"


rule speed:
    """Time sampling, prediction and loading of the networks of a grid."""
    input:
        datasets=inputs.datasets,
    output:
        table="timings/speed/{grid}/speed.csv",
        loadings="timings/speed/{grid}/loadings.csv",
    log:
        "logs/speed/{grid}.log",
    conda:
        "../../environment.yml"
    # The job computes on one core. It requests all so that no other job runs beside it.
    threads: workflow.cores
    resources:
        mem_mb=8000,
        runtime=120,
    params:
        spec=specifications.timing_job,
        datasets=option_per_input("--dataset", "datasets"),
    shell:
        "nlobayes speed --spec - {params.datasets}"
        " --out {output.table:q} --loadings {output.loadings:q} 2> {log:q} <<< {params.spec:q}"
