# From tables to figures and the report.


rule plot:
    """Draw the figures of one run."""
    input:
        tables=rules.tabulate.output.tables,
        thinning=rules.thin.output.table,
    output:
        *[f for c, names in FIGURES.items() for f in figures(c, names)],
        record="results/records/plot/{run}.json",
    log:
        "logs/plot/{run}.log",
    benchmark:
        "timings/plot/{run}.tsv"
    wildcard_constraints:
        run=RUN_OF_NUMBERS,
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory("plot"),
        runtime=wall_time("plot"),
    params:
        tables=folder_of_tables,
        folder=folder_of_figures,
        name=name_of_run,
        verdict=verdict_beside_tables,
        names=repeat_option("--figure", sum(FIGURES.values(), ())),
        code=code_digest("plot"),
    shell:
        "nlobayes plot --tables {params.tables:q} {params.verdict} {params.names}"
        " --name {params.name:q} --out {params.folder:q} --record {output.record:q} 2> {log:q}"


use rule plot as plot_classes with:
    input:
        tables=rules.tabulate_classes.output.tables,
        thinning=rules.thin.output.table,
    output:
        *[f for c, names in FIGURES_OF_CLASSES.items() for f in figures(c, names)],
        record="results/records/plot_classes/{run}.json",
    log:
        "logs/plot_classes/{run}.log",
    benchmark:
        "timings/plot_classes/{run}.tsv"
    wildcard_constraints:
        run=RUN_OF_CLASSES,
    params:
        tables=folder_of_tables,
        folder=folder_of_figures,
        name=name_of_run,
        verdict=verdict_beside_tables,
        names=repeat_option("--figure", sum(FIGURES_OF_CLASSES.values(), ())),
        code=code_digest("plot"),


use rule plot as plot_bands with:
    input:
        tables=table_files(*VERDICTS, *tables_of(Of.ONE_FEATURE)),
    output:
        *figures("Accuracy", names_of(Of.ONE_FEATURE)),
        record="results/records/plot_bands/{run}.json",
    log:
        "logs/plot_bands/{run}.log",
    benchmark:
        "timings/plot_bands/{run}.tsv"
    params:
        tables=folder_of_tables,
        folder=folder_of_figures,
        name=name_of_run,
        verdict=verdict_beside_tables,
        names=repeat_option("--figure", names_of(Of.ONE_FEATURE)),
        code=code_digest("plot"),


use rule plot as plot_scale_ratio with:
    input:
        tables=table_files(*VERDICTS, *tables_of(Of.KNOWN_SCALE)),
    output:
        *figures("Calibration", names_of(Of.KNOWN_SCALE)),
        record="results/records/plot_scale_ratio/{run}.json",
    log:
        "logs/plot_scale_ratio/{run}.log",
    benchmark:
        "timings/plot_scale_ratio/{run}.tsv"
    params:
        tables=folder_of_tables,
        folder=folder_of_figures,
        name=name_of_run,
        verdict=verdict_beside_tables,
        names=repeat_option("--figure", names_of(Of.KNOWN_SCALE)),
        code=code_digest("plot"),


use rule plot as plot_landscape with:
    input:
        tables=rules.landscape.output.tables,
    output:
        *figures(
            "Pretraining",
            LANDSCAPE_FIGURES,
            "results/figures/landscape/{model}",
            "model",
        ),
        record="results/records/plot_landscape/{model}.json",
    log:
        "logs/plot_landscape/{model}.log",
    benchmark:
        "timings/plot_landscape/{model}.tsv"
    params:
        tables=folder_of_tables,
        folder=folder_of_figures,
        name="model {model}",
        verdict="",
        names=repeat_option("--figure", LANDSCAPE_FIGURES),
        code=code_digest("plot"),


use rule plot as plot_prior_predictive with:
    input:
        tables=rules.prior_predictive.output.tables,
    output:
        *figures("Prior", [PRIOR], "results/figures/prior_predictive/{model}", "model"),
        record="results/records/plot_prior_predictive/{model}.json",
    log:
        "logs/plot_prior_predictive/{model}.log",
    benchmark:
        "timings/plot_prior_predictive/{model}.tsv"
    params:
        tables=folder_of_tables,
        folder=folder_of_figures,
        name="model {model}",
        verdict="",
        names=repeat_option("--figure", [PRIOR]),
        code=code_digest("plot"),


use rule plot as plot_scan with:
    input:
        tables=expand(
            "results/plots/comparison/{{grid}}/{table}.csv", table=tables_of(Of.GRIDS)
        ),
    output:
        *figures(
            "Comparison",
            names_of(Of.GRIDS),
            "results/figures/comparison/{grid}",
            "grid",
        ),
        record="results/records/plot_scan/{grid}.json",
    log:
        "logs/plot_scan/{grid}.log",
    benchmark:
        "timings/plot_scan/{grid}.tsv"
    params:
        tables=folder_of_tables,
        folder=folder_of_figures,
        name="grid {grid}",
        verdict="",
        names=repeat_option("--figure", names_of(Of.GRIDS)),
        code=code_digest("plot"),


use rule plot as plot_differences with:
    input:
        tables=expand(
            "results/plots/comparison/{{grid}}/{table}.csv",
            table=tables_of(Of.SETTINGS),
        ),
    output:
        *figures(
            "Comparison",
            names_of(Of.SETTINGS),
            "results/figures/comparison/{grid}",
            "grid",
        ),
        record="results/records/plot_differences/{grid}.json",
    log:
        "logs/plot_differences/{grid}.log",
    benchmark:
        "timings/plot_differences/{grid}.tsv"
    params:
        tables=folder_of_tables,
        folder=folder_of_figures,
        name="grid {grid}",
        verdict="",
        names=repeat_option("--figure", names_of(Of.SETTINGS)),
        code=code_digest("plot"),


use rule plot as plot_speed with:
    input:
        tables="timings/speed/{grid}/speed.csv",
    output:
        *figures("Speed", names_of(Of.SPEED), "timings/speed/{grid}", "grid"),
        record="timings/speed/{grid}/record.json",
    log:
        "logs/plot_speed/{grid}.log",
    benchmark:
        "timings/plot_speed/{grid}.tsv"
    params:
        tables=folder_of_tables,
        folder=folder_of_figures,
        name="grid {grid}",
        verdict="",
        names=repeat_option("--figure", names_of(Of.SPEED)),
        code=code_digest("plot"),


for grid_name in STUDY.grids:

    rule:
        name:
            grid_name
        input:
            outputs_of(grid_name),
