# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""A fused RMSNorm (C) as an operator of PyTorch, with a derivative, trained under torch.compile."""

import subprocess
import tempfile
import warnings
from pathlib import Path

import torch

from ffi_builder import attach, providers, runtime, spec
from ffi_builder.frameworks import torch as ffi_torch

KERNELS = """
#include <math.h>
#include <stdint.h>
void norm(const float *x, const float *w, float *y, float *scale, int64_t n, int64_t d, float eps) {
    for (int64_t i = 0; i < n; ++i, x += d, y += d) {
        float sum = 0;
        for (int64_t j = 0; j < d; ++j) sum += x[j] * x[j];
        scale[i] = 1 / sqrtf(sum / d + eps);
        for (int64_t j = 0; j < d; ++j) y[j] = x[j] * w[j] * scale[i];
    }
}
void norm_dx(const float *g, const float *x, const float *w, const float *scale, float *dx,
             int64_t n, int64_t d) {
    for (int64_t i = 0; i < n; ++i, g += d, x += d, dx += d) {
        float dot = 0, s = scale[i];
        for (int64_t j = 0; j < d; ++j) dot += g[j] * w[j] * x[j];
        for (int64_t j = 0; j < d; ++j) dx[j] = s * (g[j] * w[j] - x[j] * s * s * dot / d);
    }
}
"""
NORM = """norm(x: Tensor([n, d], float32, intent=in), w: Tensor([d], float32, intent=in),
  eps: float32, y: Tensor([n, d], float32, intent=out), scale: Tensor([n], float32, intent=out))"""
NORM_DX = """norm_dx(g: Tensor([n, d], float32, intent=in), x: Tensor([n, d], float32, intent=in),
  w: Tensor([d], float32, intent=in), scale: Tensor([n], float32, intent=in),
  dx: Tensor([n, d], float32, intent=out))"""


def hook(module):
    for text, args in ((NORM, "x w y scale n d eps"), (NORM_DX, "g x w scale dx n d")):
        signature = spec.Signature.parse(text, device="cpu")
        provider = providers.DirectCallProvider(signature.name, args=args.split())
        attach(module, signature, provider)


with tempfile.TemporaryDirectory() as folder:
    Path(folder, "norm.c").write_text(KERNELS)
    subprocess.run(["cc", "-O2", "-fPIC", "-c", "norm.c"], cwd=folder, check=True)
    kernels = [Path(folder, "norm.o")]
    compiled = runtime.compile("module {}", post_compile_hooks=[hook], link=kernels)

norm_dx = ffi_torch.operator(compiled["norm_dx"], namespace="example", form="functional")


def setup_context(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:2], output[1])


def backward(ctx, grad, _):
    x, w, scale = ctx.saved_tensors
    grad = grad.contiguous()  # torch may pass any layout
    return norm_dx(grad, x, w, scale), (grad * x * scale[:, None]).sum(0), None


# With form="functional" y and scale are allocated and returned.
derivative = {"backward": backward, "setup_context": setup_context}
norm = ffi_torch.operator(compiled["norm"], namespace="example", form="functional", **derivative)


class RMSNorm(torch.nn.RMSNorm):
    """torch.nn.RMSNorm, with the kernels above."""

    def forward(self, x):
        """Normalize the rows."""
        return norm(x, self.weight, self.eps)[0]


def trained(norm, steps=40):
    """Train a small network with this normalization, and return the losses."""
    torch.manual_seed(0)
    x, losses = torch.rand(64, 16), []
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), norm(32, eps=1e-6), torch.nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    loss_of = torch.compile(lambda: (model(x) - x[:, :1]).square().mean(), fullgraph=True)
    for _ in range(steps):
        optimizer.zero_grad()
        (loss := loss_of()).backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    warnings.filterwarnings("ignore", ".*torch.jit")  # torch's own use of it
    ours, theirs = map(trained, (RMSNorm, torch.nn.RMSNorm))
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-5)
    print(f"{len(ours)} steps under torch.compile: the losses are those of torch.nn.RMSNorm")
