// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/run-report.h"

namespace scaleacross
{

const FigureTable<ClassReport>&
ClassReport::Figures()
{
    using C = ClassReport;
    static const FigureTable<C> figures = {
        MakeFigure("busy_s", &C::busy, "time in which a collective of the class is under way"),
        MakeFigure("exposed_s", &C::exposed, "time that a rank's compute stands still for it"),
        MakeFigure("bytes", &C::bytes, "payload sent by all ranks"),
        MakeFigure("cross_bytes", &C::crossBytes, "of it, what left its building"),
    };
    return figures;
}

const FigureTable<NetworkReport>&
NetworkReport::Figures()
{
    using N = NetworkReport;
    static const FigureTable<N> figures = {
        MakeFigure("packets_sent", &N::packetsSent, "packets that were sent"),
        MakeFigure("packets_delivered", &N::packetsDelivered, "packets that arrived"),
        MakeFigure("packets_dropped",
                   &N::packetsDropped,
                   "packets lost to full buffers, wires or failures"),
        MakeFigure("packets_in_flight", &N::packetsInFlight, "packets under way at the end"),
        MakeFigure("retransmissions", &N::retransmissions, "packets sent once more"),
        MakeFigure("pauses", &N::pauses, "pauses that switches sent"),
        MakeFigure("collision_factor",
                   &N::collisionFactor,
                   "most flows on one of equal paths over the mean"),
    };
    return figures;
}

const FigureTable<ResourceReport>&
ResourceReport::Figures()
{
    using R = ResourceReport;
    static const FigureTable<R> figures = {
        MakeFigure("bytes", &R::bytes, "payload and headers of one iteration"),
        MakeFigure("capacity_bps",
                   &R::capacity,
                   "what events leave of it, in the mean over the measured iterations"),
        MakeFigure("shared", &R::shared, "by ranks; else a port of one"),
        MakeFigure("busy", &R::busy, "bytes over capacity, over the iteration time: at most 1"),
    };
    return figures;
}

const FigureTable<CorrectionReport>&
CorrectionReport::Figures()
{
    using C = CorrectionReport;
    static const FigureTable<C> figures = {
        MakeFigure("operations", &C::operations, "operations between servers, of the plan"),
        MakeFigure("covered", &C::covered, "of these, for which there is a factor"),
        MakeFigure("uncovered_share",
                   &C::uncovered,
                   "part of the time of all operations that the others take, at most 1"),
        MakeFigure("low_s", &C::low, "least iteration time by the factors and their ends"),
        MakeFigure("high_s", &C::high, "greatest iteration time by the factors and their ends"),
    };
    return figures;
}

const FigureTable<FastForwardReport>&
FastForwardReport::Figures()
{
    using F = FastForwardReport;
    static const FigureTable<F> figures = {
        MakeFigure("skipped_s", &F::skipped, "time of the whole run that was not simulated"),
        MakeFigure("skips", &F::skips, "in how many pieces"),
        MakeFigure("verified_s",
                   &F::verified,
                   "time that could have been skipped and was simulated to compare"),
        MakeFigure("checks", &F::checks, "in how many pieces"),
        MakeFigure("error", &F::error, "of the packets left out in that time, relative, mean"),
        MakeFigure("worst", &F::worst, "the same, of the piece where it is greatest"),
    };
    return figures;
}

const FigureTable<RunReport>&
RunReport::Figures()
{
    using R = RunReport;
    static const FigureTable<R> figures = {
        MakeFigure("iteration_time_s",
                   &R::iterationTime,
                   "steady state: start of forward to start of the next on the slowest rank"),
        MakeFigure("mfu", &R::mfu, "model FLOPs without recomputation / (time x GPUs x BF16 peak)"),
        MakeFigure("bubble_fraction", &R::bubbleFraction, "bubble over iteration time"),
        MakeFigure("exposed_comm_s",
                   &R::exposedComm,
                   "waiting for communication, all classes, mean over the ranks"),
        MakeFigure("memory_bytes_max", &R::memoryMax, "of the rank that holds the most"),
        MakeFigure("cross_building_bytes",
                   &R::crossBuildingBytes,
                   "payload over building boundaries, all ranks, one iteration"),
        MakeFigure("compute_s", &R::computeTime, "GPU busy, mean over the ranks"),
        MakeFigure("bubble_s",
                   &R::bubble,
                   "idle for want of work from another stage, mean over the ranks"),
        MakeFigure("warmup", &R::warmup, "iterations before the measured ones"),
        MakeFigure("iterations", &R::iterations, "measured"),
    };
    return figures;
}

} // namespace scaleacross
