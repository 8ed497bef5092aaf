/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Graphs of pressure in the last minutes, beside its figures. */
#ifndef STALLTOP_UI_PRESSURE_H
#define STALLTOP_UI_PRESSURE_H

#include "data/system.h"
#include "ui/state/ui.h"

#define PRESSURE_CELLS 120

struct pressure_graph {
	int column, cells; /* cells 0: there is no room, or nothing is kept */
	bool said; /* how long it goes back is before it */
	uint64_t cell_ns; /* the time that a cell stands for */
	uint64_t begin_ns; /* CLOCK_REALTIME of the first one */
	float values[PSI_RESOURCES][PRESSURE_CELLS]; /* "some", in percent; negative: not known */
};

/* Makes the graphs, up to the moment that is shown, for a block that ends before `column`. */
void pressure_graph_make(struct ui *ui, int column, struct pressure_graph *graph);

/* Draws the graph of a resource. */
void pressure_graph_draw(struct ui *ui, const struct pressure_graph *graph,
			 enum psi_resource resource, int line);

#endif
