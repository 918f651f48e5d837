"""The embedded NLO QCD engine for neutralino pair production at the LHC."""
