"""The WKV recurrence of RWKV-7, token by token and in blocks, with the state handed in and out.

For each head, with the state S (key_dim, value_dim) and a log decay w, a receptance r and vectors a, b, k, v a token:

    S_t = diag(exp(w_t)) S_{t-1} + b_t (a_t^T S_{t-1}) + k_t v_t^T;    y_t = r_t^T S_t

which is RWKV-7 "Goose" (Peng et al., arXiv 2503.14456, section 4.1) where a = -kk and b = kk * in-context learning rate
(the paper writes S transposed). Knows no layers, weights or tokens. Everything is float32.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

# exp(-0.5) * sigmoid(...) is below 0.607, so 64 tokens decay by less than exp(-39): factors within exp(+-20)
MAX_BLOCK = 64


def wkv7_recurrent(
    r: Tensor, w: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, state: Tensor
) -> tuple[Tensor, Tensor]:
    """The recurrence as it is written: the slow twin.

    r, w, k, a, b (batch, length, heads, key_dim), w the log of the decay, negative; v (batch, length, heads,
    value_dim); state (batch, heads, key_dim, value_dim) float32. Returns y, shaped as v, and the state after the last
    token, both float32.
    """
    out = []
    for r_t, w_t, k_t, v_t, a_t, b_t in zip(*(t.float().unbind(1) for t in (r, w, k, v, a, b)), strict=True):
        seen = a_t[..., None, :] @ state  # (batch, heads, 1, value_dim)
        state = w_t.exp()[..., None] * state + b_t[..., None] * seen + k_t[..., None] * v_t[..., None, :]
        out.append((r_t[..., None, :] @ state).squeeze(-2))
    return torch.stack(out, 1), state


def wkv7_scan(
    r: Tensor, w: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, state: Tensor, block_size: int
) -> tuple[Tensor, Tensor]:
    """As `wkv7_recurrent`, a block of `block_size` tokens (64 at most) at a time, in dense products.

    With g the running sum of w in a block and u_t = a_t^T S_{t-1}, the u of a block solve a unit triangular system
    (I - tril(A_ab, -1)) U = tril(A_ak, -1) V + (a exp(g - w)) S_0, where A_xy[t, s] = sum x_t exp(g'_t - g_s) y_s:
    the WY form of DeltaNet (Yang et al., arXiv 2406.06484) with decay. A slice that begins at a multiple of
    `block_size` gives what one pass over everything gives. Holds for w > -0.607, as RWKV-7's always is.
    """
    length = v.shape[1]
    Q = min(block_size, length, MAX_BLOCK)
    r, w, k, v, a, b = (_blocks(t, Q) for t in (r, w, k, v, a, b))  # padding: decay exp(0), nothing added or read
    g = w.cumsum(-2)  # (batch, blocks, heads, Q, key_dim)
    total = g[..., -1:, :]
    reference = total / 2  # both factors of exp(g_t - g_s) stay within exp(-total / 2)
    inverse = (reference - g).exp()
    b_in, k_in = b * inverse, k * inverse
    a_out, r_out = a * (g - w - reference).exp(), r * (g - reference).exp()
    seen_k = (a_out @ k_in.mT).tril(-1) @ v
    # forward substitution, not a product of powers: for repeated keys those grow to 1e8 and cancel
    right = torch.cat((seen_k, a * (g - w).exp()), -1)
    solved = torch.linalg.solve_triangular(-(a_out @ b_in.mT).tril(-1), right, upper=False, unitriangular=True)
    seen, from_state = solved.split((v.shape[-1], a.shape[-1]), -1)
    y, state = _pass_states(
        within=(r_out @ k_in.mT).tril() @ v,
        read_b=(r_out @ b_in.mT).tril(),
        read_state=r * g.exp(),
        seen=seen,
        from_state=from_state,
        b_end=(b * (total - g).exp()).mT,
        added=(k * (total - g).exp()).mT @ v,
        decay=total.mT.exp(),
        state=state,
    )
    return y.transpose(2, 3).flatten(1, 2)[:, :length], state


def _pass_states(
    within: Tensor,
    read_b: Tensor,
    read_state: Tensor,
    seen: Tensor,
    from_state: Tensor,
    b_end: Tensor,
    added: Tensor,
    decay: Tensor,
    state: Tensor,
) -> tuple[Tensor, Tensor]:
    """Hand the state from block to block, and complete each block's outputs (batch, blocks, heads, Q, value_dim)."""
    out = []
    for block in range(within.shape[1]):
        u = seen[:, block] + from_state[:, block] @ state
        out.append(within[:, block] + read_b[:, block] @ u + read_state[:, block] @ state)
        state = decay[:, block] * state + b_end[:, block] @ u + added[:, block]
    return torch.stack(out, 1), state


def _blocks(t: Tensor, Q: int) -> Tensor:
    """(batch, length, heads, dim) -> (batch, blocks, heads, Q, dim) float32, padded with zeros."""
    padded = F.pad(t.float(), (0, 0, 0, 0, 0, -t.shape[1] % Q))
    blocks: Tensor = padded.unflatten(1, (-1, Q)).transpose(2, 3)
    return blocks.contiguous()  # an eighth faster: one copy instead of several
