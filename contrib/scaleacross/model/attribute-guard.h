// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ATTRIBUTE_GUARD_H
#define SCALEACROSS_ATTRIBUTE_GUARD_H

#include "ns3/attribute.h"
#include "ns3/ptr.h"

/**
 * \file
 * When an attribute may be set. Every attribute of this module that can be set at all is declared
 * as one of two kinds, by what its accessor is wrapped in:
 *
 * \code
 *   .AddAttribute("BufferSize", "...", UintegerValue(64 << 20),
 *                 scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_bufferSize)), ...)
 *   .AddAttribute("Delay", "...", TimeValue(MicroSeconds(1)),
 *                 scaleacross::Live(MakeTimeAccessor(&FabricWire::SetDelay, ...)), ...)
 * \endcode
 *
 * - Fixed: takes effect if it is set before its object is in use, and is refused afterwards by a
 *   ConfigError that names the attribute and says why. An object is in use from the beginning of
 *   the run (time zero, or the time at which it joins a run), unless it is an AttributeOwner and
 *   says otherwise.
 * - Live: takes effect at any time. Its setter has to see to that, and to refuse by a ConfigError
 *   the values that it cannot take up any more.
 *
 * The suite scaleacross-attributes goes through all attributes of all types of the module: one
 * that is neither kind, that is refused without being Fixed, or that is set in vain, fails it.
 */
namespace scaleacross
{

/// An object that says itself from when on its Fixed attributes are fixed.
class AttributeOwner
{
  public:
    virtual ~AttributeOwner() = default;

    /// Why they cannot be set any more, as in "the queue pair is connected"; null while they can.
    virtual const char* WhyFixed() const = 0;

    /// One of them has been set: what has been computed from it is out of date.
    virtual void AttributeSet();
};

/// One whose user says when: a strategy that has been given to a queue pair, switch or wire.
class FixedOnceUsed : public AttributeOwner
{
  public:
    const char* WhyFixed() const override;

    /// From now on, because of that. Domain: a literal, or what lives as long.
    void FixAttributes(const char* why);

  private:
    const char* m_why{nullptr};
};

/// The accessor of an attribute that is fixed once its object is in use.
ns3::Ptr<const ns3::AttributeAccessor> Fixed(ns3::Ptr<const ns3::AttributeAccessor> accessor);

/// The accessor of an attribute that may be set at any time.
ns3::Ptr<const ns3::AttributeAccessor> Live(ns3::Ptr<const ns3::AttributeAccessor> accessor);

/// Which kind an accessor is; neither, if it has not been declared.
bool IsFixed(const ns3::AttributeAccessor& accessor);
bool IsLive(const ns3::AttributeAccessor& accessor);

} // namespace scaleacross

#endif // SCALEACROSS_ATTRIBUTE_GUARD_H
