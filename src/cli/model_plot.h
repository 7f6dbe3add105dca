/* `assay model --plot CALLPATH`: a model with its measurements as a picture. */
#ifndef AS_CLI_MODEL_PLOT_H
#define AS_CLI_MODEL_PLOT_H

#include "cli/study.h"

/* Draws the first model of the fit to cli->out, as SVG where -o names one. One parameter, or one chosen with --over:
 * points, curve and 95 % band over it, the others at what --fix says, else at their largest measured value. Two
 * parameters, or two left by --fix or named by --over: a heat map. */
as_exit as_model_plot(as_cli *cli, const as_study *study, const as_fit *fit);
/* Rows of a plot that nobody gave a height: all of a terminal but the line of the prompt, within reason. */
unsigned as_plot_height(const as_cli *cli);

#endif
