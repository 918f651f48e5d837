"""Where configuration meets numerics: job specifications become functions."""

from nlobayes.builder.keys import MOST_CHAINS as MOST_CHAINS
from nlobayes.builder.keys import STAGES as STAGES
from nlobayes.builder.keys import chain_key as chain_key
from nlobayes.builder.keys import chain_keys as chain_keys
from nlobayes.builder.model import Model as Model
from nlobayes.builder.model import build_model as build_model
from nlobayes.builder.model import check_finite as check_finite
from nlobayes.builder.model import error_of as error_of
from nlobayes.builder.model import name_variables as name_variables
from nlobayes.builder.model import observer as observer
from nlobayes.builder.model import predict_with as predict_with
from nlobayes.builder.model import rows_of as rows_of
from nlobayes.builder.sampler import Sampler as Sampler
from nlobayes.builder.sampler import build_adaptation as build_adaptation
from nlobayes.builder.sampler import build_kernel as build_kernel
from nlobayes.builder.sampler import build_sampler as build_sampler
from nlobayes.builder.sampler import curvature_with as curvature_with
from nlobayes.builder.sampler import sampling_template as sampling_template
from nlobayes.builder.sampler import stack_positions as stack_positions
from nlobayes.builder.sampler import warmup_template as warmup_template
from nlobayes.builder.starts import build_problem as build_problem
from nlobayes.builder.starts import build_search as build_search
from nlobayes.builder.starts import draw_functions as draw_functions
from nlobayes.builder.starts import draw_start as draw_start
from nlobayes.builder.stored import components as components
from nlobayes.builder.stored import log_ratios as log_ratios
