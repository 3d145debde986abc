// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_VERTEX_H
#define SCALEACROSS_VERTEX_H

#include <cstdint>

namespace scaleacross
{

enum class VertexKind : uint8_t
{
    Nic, //!< a port of a GPU's NIC, in order of the GPUs: port k of GPU g's is vertex g x ports + k
    Leaf,
    Spine,
    Aggregation //!< of a three-stage fabric, or of a hub
};

/// A switch, or a port of a NIC.
struct Vertex
{
    VertexKind kind{VertexKind::Nic};
    uint32_t site{0};  //!< building, or hub after the last building
    uint32_t index{0}; //!< within its kind and site
};

} // namespace scaleacross

#endif // SCALEACROSS_VERTEX_H
