# SPDX-License-Identifier: GPL-2.0-only
"""A page for people: what a database holds, as one HTML file that needs nothing else.

    /usr/bin/python3 -m scaleacross.report study.db -o report.html
"""
