/** Shows what to know about the chosen video action, and hides what belongs to the others. */
export function actionTips(action: string): void {
  for (const tip of ["start", "stop", "cancel"]) {
    $(`.dimensioner-tip-${tip}`).toggle(tip === action);
  }
}
