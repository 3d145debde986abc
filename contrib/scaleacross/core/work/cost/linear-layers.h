// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LINEAR_LAYERS_H
#define SCALEACROSS_LINEAR_LAYERS_H

#include "core/spec/model-spec.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// A linear layer: for every token `in` elements are multiplied with a matrix and make `out`.
struct LinearLayer
{
    /// What tensor parallelism divides.
    enum class Split
    {
        Columns, //!< the outputs; a gather of the input stands before it
        Rows,    //!< the inputs; a scatter of the output stands behind it
        Tokens   //!< neither; each rank does tokens of its own, beside no gather or scatter
    };

    double in{0};
    double out{0};
    Split split{Split::Columns};
};

/// Those of a layer that backward does again, by the half they are in.
struct RepeatedLinears
{
    std::vector<LinearLayer> attention;
    std::vector<LinearLayer> mlp;
};

/**
 * What recompute: alternate does again: every second of a layer's linear layers, counted in the
 * order of forward: Q, K, V, output, gate, up, down (with MLA the projection down and up of Q and
 * of K and V, output). The layer's last one, if no routed experts are behind it, is not among them,
 * since nothing in backward needs its output. Neither a router nor routed experts are counted: all
 * of these are done again.
 *
 * Worked case: Llama 3 8B. K, output and up: h g d + h a d + h f = 4,096 x (1,024 + 4,096 + 14,336)
 * = 79.7e6 of the layer's 218.1e6 products per token, 36.5 %. With GELU, six linear layers: K and
 * output.
 */
RepeatedLinears AlternateLinears(const ModelSpec& model, uint32_t layer);

/// A layer's linear layers outside of routed experts as the software runs them that joins Q, K and
/// V, and gate and up.
std::vector<LinearLayer> JoinedLinears(const ModelSpec& model, uint32_t layer);

} // namespace scaleacross

#endif // SCALEACROSS_LINEAR_LAYERS_H
