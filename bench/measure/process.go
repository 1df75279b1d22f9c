package measure

import (
	"os"
	"os/exec"
	"time"
)

// patience is how long a program that was interrupted may take to end.
const patience = 10 * time.Second

// Interruptible makes the end of the command's context an interrupt, so that the program can stop
// what it has started and remove its files. It is killed where there are no interrupts, or if it
// goes on.
func Interruptible(cmd *exec.Cmd) {
	cmd.WaitDelay = patience
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err == nil {
			return nil
		}
		return cmd.Process.Kill()
	}
}
