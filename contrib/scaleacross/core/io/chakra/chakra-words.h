// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHAKRA_WORDS_H
#define SCALEACROSS_CHAKRA_WORDS_H

/// Names of attributes in traces of Chakra.
namespace scaleacross::words
{

// Chakra's, with the types that its feeder reads.
constexpr const char* kIsCpuOp = "is_cpu_op";          //!< bool
constexpr const char* kNumOps = "num_ops";             //!< int64, FLOPs
constexpr const char* kTensorSize = "tensor_size";     //!< uint64, bytes
constexpr const char* kCommType = "comm_type";         //!< int64, of CollectiveCommType
constexpr const char* kCommSize = "comm_size";         //!< int64, bytes that a member puts in
constexpr const char* kCommSource = "comm_src";        //!< int32, rank
constexpr const char* kCommDestination = "comm_dst";   //!< int32, rank
constexpr const char* kCommTag = "comm_tag";           //!< int32
constexpr const char* kCommPriority = "comm_priority"; //!< int32, 0 if there is none
constexpr const char* kGroup = "pg_name";              //!< string, a number to ASTRA-sim
constexpr const char* kOldGroup = "comm_group";     //!< int32: STAGE's word for it, with its option
                                                    //!< STAGE_LEGACY_ATTR
constexpr const char* kGpuStream = "stream";        //!< int64, from PyTorch's profiler
constexpr const char* kDimensions = "involved_dim"; //!< list of bool, by dimension of ASTRA-sim

// Ours, from which a trace is read as the very task graph that it was made from.
constexpr const char* kGraph = "scaleacross";     //!< of the file: string, JSON
constexpr const char* kRank = "scaleacross.rank"; //!< of the file: uint32
constexpr const char* kHash = "scaleacross.hash"; //!< of the file: string, HashOfChakra()
/// String: "run", "wait" and "post_receive" of computing that takes no time; "rest" of what follows
/// the first node of a collective that takes several.
constexpr const char* kDo = "scaleacross.do";
constexpr const char* kPs = "scaleacross.ps";                 //!< int64, picoseconds of computing
constexpr const char* kCollective = "scaleacross.collective"; //!< uint32, in the graph's list
constexpr const char* kStream = "scaleacross.stream";         //!< uint32, of Stream
constexpr const char* kHandle = "scaleacross.handle";         //!< uint32
constexpr const char* kMessage = "scaleacross.message";       //!< uint32, of a posted receive
constexpr const char* kPeer = "scaleacross.peer";             //!< int32, of a posted receive: rank
/// List of uint32, of a run: Action, chunk, microbatch, those of what goes backward, and the number
/// of operations in it.
constexpr const char* kPass = "scaleacross.pass";

} // namespace scaleacross::words

#endif // SCALEACROSS_CHAKRA_WORDS_H
