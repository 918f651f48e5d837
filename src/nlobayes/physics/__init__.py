"""The embedded NLO QCD engine for pairs of electroweakinos; without imports, as planning needs.

`processes` names the pairs, `mssm` has their masses and mixings, `scans` chooses points. Born
processes are in `couplings` and `partonic`; parton densities with the QCD correction in `mellin`,
`splitting`, `pdf`, `evolution` and `luminosity`; `hadronic` joins both. `validity` states where
other calculations were compared.
"""

ENGINE_VERSION = "1"
"""Changes when the numbers of the engine change by more than rounding."""
