# Rules from tables to figures and the report.

from nlobayes.workflow.figures import (
    BAND_TABLES,
    CHAIN_FIGURES,
    CLASSES,
    DATA,
    FIDELITY,
    IMAGE_TABLES,
    KNOWN_SCALE,
    LANDSCAPE_FIGURES,
    NUMBERS,
    PLANE_TABLES,
    PRIOR,
    PULL_TABLES,
    PULLS,
    ROUNDS,
    SETTING_TABLES,
    SETTINGS,
    SIZE_FIGURES,
    TABLES_BESIDE_CHAINS,
)


rule plot:
    """Draw the figures of one run."""
    input:
        tables=rules.tabulate.output.tables,
    output:
        *figures_by_category(NUMBERS.figures),
        record="results/records/plot/{run}.json",
    log:
        "logs/plot/{run}.log",
    benchmark:
        "timings/plot/{run}.tsv"
    wildcard_constraints:
        run=f"(?!{runs_of_known_scale(PLAN)}){runs_of(NUMBERS, PLAN)}",
    conda:
        "../../environment.yml"
    resources:
        **needs.of("plot"),
    params:
        **options.to_plot("run", NUMBERS.figure_names),
    shell:
        "nlobayes plot --tables {params.tables:q} {params.verdict} {params.names}"
        " --name {params.name:q} --out {params.folder:q} --record {output.record:q} 2> {log:q}"


use rule plot as plot_with_scale with:
    output:
        *figures_by_category(KNOWN_SCALE.figures),
        record="results/records/plot/{run}.json",
    wildcard_constraints:
        run=runs_of_known_scale(PLAN),
    params:
        **options.to_plot("run", KNOWN_SCALE.figure_names),


use rule plot as plot_chains with:
    input:
        tables=rules.tabulate_chains.output.tables,
        beside=tables(TABLES_BESIDE_CHAINS),
        thinning=rules.thin.output.table,
    output:
        *figures_by_category(CHAIN_FIGURES),
        record="results/records/plot_chains/{run}.json",
    log:
        "logs/plot_chains/{run}.log",
    benchmark:
        "timings/plot_chains/{run}.tsv"
    wildcard_constraints:
        run=runs_of_chains(PLAN),
    params:
        **options.to_plot("run", names_of(FigureKind.CHAINS)),


use rule plot as plot_sizes with:
    input:
        tables=rules.tabulate_sizes.output.tables,
        beside=tables(TABLES_BESIDE_CHAINS),
    output:
        *figures_by_category(SIZE_FIGURES),
        record="results/records/plot_sizes/{run}.json",
    log:
        "logs/plot_sizes/{run}.log",
    benchmark:
        "timings/plot_sizes/{run}.tsv"
    wildcard_constraints:
        run=runs_of_drawn_sizes(PLAN),
    params:
        **options.to_plot("run", names_of(FigureKind.DRAWN_SIZES)),


use rule plot as plot_classes with:
    input:
        tables=rules.tabulate_classes.output.tables,
    output:
        *figures_by_category(CLASSES.figures),
        record="results/records/plot_classes/{run}.json",
    log:
        "logs/plot_classes/{run}.log",
    benchmark:
        "timings/plot_classes/{run}.tsv"
    wildcard_constraints:
        run=runs_of(CLASSES, PLAN),
    params:
        **options.to_plot("run", CLASSES.figure_names),


use rule plot_classes as plot_certainty with:
    input:
        tables=tables(PLANE_TABLES),
    output:
        *figures("Classes", ["certainty"]),
        record="results/records/plot_certainty/{run}.json",
    log:
        "logs/plot_certainty/{run}.log",
    benchmark:
        "timings/plot_certainty/{run}.tsv"
    params:
        **options.to_plot("run", ["certainty"]),


use rule plot_classes as plot_images with:
    input:
        tables=tables(IMAGE_TABLES),
    output:
        *figures("Classes", ["images"]),
        record="results/records/plot_images/{run}.json",
    log:
        "logs/plot_images/{run}.log",
    benchmark:
        "timings/plot_images/{run}.tsv"
    params:
        **options.to_plot("run", ["images"]),


use rule plot as plot_bands with:
    input:
        tables=tables(BAND_TABLES),
    output:
        *figures("Accuracy", names_of(FigureKind.ONE_FEATURE)),
        record="results/records/plot_bands/{run}.json",
    log:
        "logs/plot_bands/{run}.log",
    benchmark:
        "timings/plot_bands/{run}.tsv"
    params:
        **options.to_plot("run", names_of(FigureKind.ONE_FEATURE)),


use rule plot as plot_data with:
    input:
        tables=rules.describe.output.tables,
    output:
        *figures("Data", [DATA], "results/figures/data/{dataset}", "dataset"),
        record="results/records/plot_data/{dataset}.json",
    log:
        "logs/plot_data/{dataset}.log",
    benchmark:
        "timings/plot_data/{dataset}.tsv"
    params:
        **options.to_plot("dataset", [DATA]),


use rule plot as plot_rounds with:
    input:
        tables=rules.judge.output.table,
    output:
        *figures("Data", [ROUNDS], "results/figures/rounds/{dataset}", "dataset"),
        record="results/records/plot_rounds/{dataset}.json",
    log:
        "logs/plot_rounds/{dataset}.log",
    benchmark:
        "timings/plot_rounds/{dataset}.tsv"
    params:
        **options.to_plot("dataset", [ROUNDS]),


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
        **options.to_plot("model", LANDSCAPE_FIGURES),


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
        **options.to_plot("model", [PRIOR]),


use rule plot as plot_scan with:
    input:
        tables=tables(["runs", "scanned"], "results/plots/comparison/{grid}"),
    output:
        *figures("Comparison", ["scan"], "results/figures/comparison/{grid}", "grid"),
        record="results/records/plot_scan/{grid}.json",
    log:
        "logs/plot_scan/{grid}.log",
    benchmark:
        "timings/plot_scan/{grid}.tsv"
    params:
        **options.to_plot("grid", ["scan"]),


use rule plot as plot_differences with:
    input:
        tables=tables(SETTING_TABLES, "results/plots/comparison/{grid}"),
    output:
        *figures("Comparison", SETTINGS, "results/figures/comparison/{grid}", "grid"),
        record="results/records/plot_differences/{grid}.json",
    log:
        "logs/plot_differences/{grid}.log",
    benchmark:
        "timings/plot_differences/{grid}.tsv"
    params:
        **options.to_plot("grid", SETTINGS),


use rule plot as plot_pulls_by_setting with:
    input:
        tables=tables(PULL_TABLES, "results/plots/comparison/{grid}"),
    output:
        *figures("Comparison", PULLS, "results/figures/comparison/{grid}", "grid"),
        record="results/records/plot_pulls_by_setting/{grid}.json",
    log:
        "logs/plot_pulls_by_setting/{grid}.log",
    benchmark:
        "timings/plot_pulls_by_setting/{grid}.tsv"
    params:
        **options.to_plot("grid", PULLS),


use rule plot as plot_speed with:
    input:
        tables=rules.speed.output,
    output:
        *figures("Speed", names_of(FigureKind.SPEED), "timings/speed/{grid}", "grid"),
        record="timings/speed/{grid}/record.json",
    log:
        "logs/plot_speed/{grid}.log",
    benchmark:
        "timings/plot_speed/{grid}.tsv"
    params:
        **options.to_plot("grid", names_of(FigureKind.SPEED)),


use rule plot as plot_fidelity with:
    input:
        tables="timings/fidelity/{approximated}/fidelity.csv",
    output:
        *figures(
            "Comparison",
            [FIDELITY],
            "timings/fidelity/{approximated}",
            "approximated",
        ),
        record="timings/fidelity/{approximated}/record.json",
    log:
        "logs/plot_fidelity/{approximated}.log",
    benchmark:
        "timings/plot_fidelity/{approximated}.tsv"
    params:
        **options.to_plot("approximated", [FIDELITY]),


for grid_name in PLAN.study.grids:

    rule:
        name:
            grid_name
        input:
            outputs_of(PLAN, grid_name, verdict_of=verdict_of),
