// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_DETOURS_H
#define SCALEACROSS_FABRIC_DETOURS_H

namespace ns3
{

class FabricHelper;

/**
 * Lets packets on detours (ValiantRouting) use virtual lanes of their own in InfiniBand, so that no
 * circle of switches waits for each other's credits: at a switch with NICs, what has come from
 * another switch and goes on to one with NICs has the lane that FabricSwitch::LaneMap gives its
 * service level then. First hops wait for second ones, and those for NICs only.
 *
 * Each priority of the transport (data, ACKs, CNPs, requests to send and grants, pulls) gets the
 * nearest larger lane that is free, else the nearest smaller one; where all lanes have buffers
 * (VirtualLanes), those that are neither have none from now on, as packets on them could lock up.
 * Packets of other stacks among them: who has IP beside it sets RdmaNic::ForeignPriority to one of
 * these priorities. To be called when all is connected and attributes are set, before
 * InstallRoutes; changes switches with Credits only. Throws ConfigError where there are too few
 * lanes.
 *
 * Worked case: data on lane 3, ACKs on 6 and CNPs on 7 go on by lanes 4, 5 and 2.
 */
void UseDetourLanes(const FabricHelper& fabric);

} // namespace ns3

#endif // SCALEACROSS_FABRIC_DETOURS_H
