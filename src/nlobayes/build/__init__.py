"""Where configuration meets numerics: job specifications become functions."""

from nlobayes.build.keys import MOST_CHAINS as MOST_CHAINS
from nlobayes.build.keys import STAGES as STAGES
from nlobayes.build.keys import chain_key as chain_key
from nlobayes.build.keys import chain_keys as chain_keys
from nlobayes.build.model import Model as Model
from nlobayes.build.model import build_model as build_model
from nlobayes.build.model import check_finite as check_finite
from nlobayes.build.model import error_of as error_of
from nlobayes.build.model import name_variables as name_variables
from nlobayes.build.model import observer as observer
from nlobayes.build.model import predict_with as predict_with
from nlobayes.build.model import rows_of as rows_of
from nlobayes.build.sampler import Sampler as Sampler
from nlobayes.build.sampler import build_adaptation as build_adaptation
from nlobayes.build.sampler import build_kernel as build_kernel
from nlobayes.build.sampler import build_sampler as build_sampler
from nlobayes.build.sampler import curvature_with as curvature_with
from nlobayes.build.sampler import sampling_template as sampling_template
from nlobayes.build.sampler import stack_positions as stack_positions
from nlobayes.build.sampler import warmup_template as warmup_template
from nlobayes.build.starts import build_problem as build_problem
from nlobayes.build.starts import build_search as build_search
from nlobayes.build.starts import draw_functions as draw_functions
from nlobayes.build.starts import draw_start as draw_start
from nlobayes.build.stored import components as components
from nlobayes.build.stored import log_ratios as log_ratios
