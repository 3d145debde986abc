// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WORKING_SET_H
#define SCALEACROSS_WORKING_SET_H

#include "core/base/units.h"
#include "core/spec/scenario.h"
#include "core/work/partition/layer-split.h"

#include <vector>

namespace scaleacross
{

/**
 * What is live while a part of the model runs, beside the activations that are kept, in bytes per
 * token of a rank. A stage has its peak where its first backward of a microbatch begins.
 */
struct WorkingSet
{
    double layers{0}; //!< of the layer that needs the most
    double head{0};   //!< of loss, logits and the head's input
};

/**
 * Of a stage with these chunks. A = 2h bytes, an activation of a token of a rank; symbols as in
 * doc/memory.md. The moments of a layer's backward, of which the largest counts:
 *
 * - the activation function's: gradients of gate and up, 4f (GELU: 2f), which come while those two
 *   are still there, and the gradient of the layer's output, A. The product has gone, and its
 *   gradient has taken its place;
 * - the down projection's: the gathered gradient tp A, the product's 2f, and A;
 * - the up projection's: gathered input and input gradient, 2 tp A, and A, with gate, up and
 *   product gone and 4f of their gradients there: 2f less;
 * - attention's: 2 tp A, and with cp the gathered K and V and their gradients, 4 cp g (d + d_v);
 *   where tp ranks repeat KV heads, with g = tp and, if it is more than 2 tp A, the gathered
 * columns of Q, K and V twice, 2 x 2 tp (a + 2g) d;
 * - the exchange of tokens with experts, forward, when the layer has kept all it keeps: the copies
 *   that are live, the experts' partial outputs etp k A, and the outputs of routed and shared
 *   experts, 2 A.
 *
 * The head: gathered input and its gradient 2 tp A (A without tp), and what the loss takes beside
 * the logits.
 */
WorkingSet WorkingSetOf(const Scenario& scenario, const std::vector<StageLayers>& chunks);

/// Stand-ins for weight gradients: 2 bytes an element of every different shape that a rank of a
/// stage with these chunks has, of its experts one. The embedding has none. Nothing without
/// SoftwareStack::gradientStandIns.
Bytes StandInsOf(const Scenario& scenario, const std::vector<StageLayers>& chunks);

} // namespace scaleacross

#endif // SCALEACROSS_WORKING_SET_H
