"""The WKV recurrence of RWKV-7 in blocks of tokens. The caller passes the state in and gets it back.

Shapes:

    r, w, k, a, b   (batch, length, heads, key_dim); r is the receptance; w is the log of the decay, negative
    v, y            (batch, length, heads, value_dim)
    S               (batch, heads, key_dim, value_dim), the state

The recurrence of each head (RWKV-7 "Goose", Peng et al., arXiv 2503.14456, section 4.1):

    S_t = diag(exp(w_t)) S_{t-1} + b_t (a_t^T S_{t-1}) + k_t v_t^T
    y_t = r_t^T S_t

RWKV-7 has a = -kk and b = kk * in-context learning rate. The paper writes S transposed.

Within a block, let g be the running sum of w, u_t = a_t^T S_{t-1}, and A_xy[t, s] = sum x_t exp(g'_t - g_s) y_s, where
g' = g - w for x = a and g' = g for x = r. The rows u_t of U solve a unit triangular system, which is the WY form of
DeltaNet (Yang et al., arXiv 2406.06484) with decay:

    (I - tril(A_ab, -1)) U = tril(A_ak, -1) V + (a exp(g - w)) S_0

Knows no layers, weights or tokens. Everything is float32.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

# |w| = exp(-0.5) * sigmoid(...) < 0.607, so a block of 64 tokens decays by less than exp(-39): factors within exp(+-20)
MAX_BLOCK = 64


def wkv7_scan(
    r: Tensor, w: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, state: Tensor, block_size: int
) -> tuple[Tensor, Tensor]:
    """Return y and the state after the last token, both float32. Shapes and equations are in the module's docstring.

    Takes a slice of any length and computes `block_size` tokens (at most 64) at a time in dense products. Slices that
    begin at multiples of `block_size` give the same y as one pass. Holds for w > -0.607, which RWKV-7 guarantees.
    """
    length = v.shape[1]
    # 1. cut into blocks of Q tokens; padding decays by exp(0), writes nothing and is not read
    Q = min(block_size, length, MAX_BLOCK)
    r, w, k, v, a, b = (_blocks(t, Q) for t in (r, w, k, v, a, b))
    # 2. split exp(g_t - g_s) into two factors around the middle of the block; both stay within exp(-total / 2)
    g = w.cumsum(-2)  # (batch, blocks, heads, Q, key_dim)
    total = g[..., -1:, :]
    reference = total / 2
    inverse = (reference - g).exp()
    b_in, k_in = b * inverse, k * inverse
    a_out, r_out = a * (g - w - reference).exp(), r * (g - reference).exp()
    # 3. solve for U by forward substitution; a product of powers would grow to 1e8 for repeated keys and cancel
    seen_k = (a_out @ k_in.mT).tril(-1) @ v
    right = torch.cat((seen_k, a * (g - w).exp()), -1)
    solved = torch.linalg.solve_triangular(-(a_out @ b_in.mT).tril(-1), right, upper=False, unitriangular=True)
    seen, from_state = solved.split((v.shape[-1], a.shape[-1]), -1)
    # 4. pass the state from block to block and complete y
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
    """Return the outputs of all blocks, (batch, blocks, heads, Q, value_dim), and the state after the last block."""
    out = []
    for block in range(within.shape[1]):
        u = seen[:, block] + from_state[:, block] @ state
        out.append(within[:, block] + read_b[:, block] @ u + read_state[:, block] @ state)
        state = decay[:, block] * state + b_end[:, block] @ u + added[:, block]
    return torch.stack(out, 1), state


def _blocks(t: Tensor, Q: int) -> Tensor:
    """Pad (batch, length, heads, dim) with zeros and cut it into (batch, blocks, heads, Q, dim) float32."""
    padded = F.pad(t.float(), (0, 0, 0, 0, 0, -t.shape[1] % Q))
    blocks: Tensor = padded.unflatten(1, (-1, Q)).transpose(2, 3)
    return blocks.contiguous()  # one copy instead of several: an eighth faster
