"""A PyTorch module as a function of torch tensors, and errors of its wrapper: `python main.py`."""

# pyright: basic, reportMissingImports=false
import warnings

import torch
from importer import compile_program
from signatures import signature_of


def error_of(function, *args):
    try:
        function(*args)
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    warnings.filterwarnings("ignore", ".*LeafSpec", FutureWarning)  # torch 2.13 about its own code
    layers = torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10), torch.nn.Softmax(1)
    model = torch.nn.Sequential(*layers).eval()
    shapes = ({0: torch.export.Dim("batch")},)
    program = torch.export.export(model, (torch.zeros(2, 16),), dynamic_shapes=shapes)
    mlp = compile_program(program, signature_of("mlp", program, ["batch"]))["mlp"]
    for batch in (1, 2, 7, 64):
        x, out = torch.randn(batch, 16), torch.empty(batch, 10)
        mlp(x, out)
        torch.testing.assert_close(out, model(x).detach())
        print(f"{batch}: as eager")
    print(error_of(mlp, x, out[1:]))
    print(error_of(mlp, x.T.contiguous().T, out))
    print(error_of(mlp, x.double(), out))
