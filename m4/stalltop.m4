# ST_REQUIRE_FLAGS(FLAGS, OPTION)
# -------------------------------
# Ends configure when the compiler can't build and link a program with FLAGS,
# which OPTION of configure asked for.
AC_DEFUN([ST_REQUIRE_FLAGS],
[AC_MSG_CHECKING([whether $CC takes $1])
st_saved_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS $1"
AC_LINK_IFELSE([AC_LANG_PROGRAM()],
	[AC_MSG_RESULT([yes])],
	[AC_MSG_RESULT([no])
	AC_MSG_ERROR([$2 needs a compiler that takes $1 (config.log says more)])])
CFLAGS=$st_saved_CFLAGS
])

# ST_TEST_LIBRARY(PREFIX, MODULE)
# -------------------------------
# Looks for a library that only the tests use. One that is missing goes to
# test_libs_missing: the program builds all the same, `make check` names it.
AC_DEFUN([ST_TEST_LIBRARY],
[PKG_CHECK_MODULES([$1], [$2], [], [test_libs_missing="$test_libs_missing $2"])
])

# ST_LACKING(MODULE, VERSION)
# ---------------------------
# Sets st_lacking to what is wrong with a library that pkg-config does not find in VERSION.
AC_DEFUN([ST_LACKING],
[st_lacking=`$PKG_CONFIG --modversion $1 2>/dev/null`
AS_IF([test "x$st_lacking" = x], [st_lacking="$1 is missing"],
	[st_lacking="$1 $st_lacking found, $2 or later is needed"])
])

# ST_PART(NAME, PREFIX, MISSING)
# ------------------------------
# Ends the search for what the part NAME of the program is made with. The shell variable MISSING
# is why it is not built; empty: it is. --with-NAME=yes insists on it. The program and the
# Makefile know by PREFIX_BUILT, PREFIX_MISSING and the condition PREFIX.
AC_DEFUN([ST_PART],
[AS_IF([test "x$with_$1" = xyes && test "x$$3" != x],
	[AC_MSG_ERROR([--with-$1=yes: $$3])])
AM_CONDITIONAL([$2], [test "x$$3" = x])
AS_IF([test "x$$3" = x],
	[AC_DEFINE([$2_BUILT], [1], [Whether $1 is built in.])])
AC_DEFINE_UNQUOTED([$2_MISSING], ["$$3"], [Why $1 is not built in; empty: it is.])
st_parts="$st_parts $1"
])

# ST_SUMMARY
# ----------
# Says at the end which parts are built in, and why others are not.
AC_DEFUN([ST_SUMMARY],
[for st_part in $st_parts; do
	eval "st_why=\$${st_part}_missing"
	AS_IF([test "x$st_why" = x], [AC_MSG_NOTICE([$st_part: built in])],
		[AC_MSG_NOTICE([$st_part: not built in: $st_why])])
done
])

# ST_LIBRARY_PART(NAME, PREFIX, MODULE, VERSION, WORDS)
# -----------------------------------------------------
# Looks for a library that the program can do without. --with-NAME=yes insists, no does without,
# auto takes what is there.
AC_DEFUN([ST_LIBRARY_PART],
[AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1=auto|yes|no], [$5 (needs $3)])],
	[], [with_$1=auto])
$1_missing=
AS_IF([test "x$with_$1" = xno], [$1_missing='--with-$1=no'],
	[PKG_CHECK_MODULES([$2], [$3 >= $4], [],
		[ST_LACKING([$3], [$4])
		$1_missing=$st_lacking])])
ST_PART([$1], [$2], [$1_missing])
])

# ST_PROCPS
# ---------
# Chooses what asks for the uptime: libproc2, libprocps (of procps before 4) or, without
# either, the program itself. --with-procps=NAME and yes insist.
AC_DEFUN([ST_PROCPS],
[AC_ARG_WITH([procps],
	[AS_HELP_STRING([--with-procps=auto|libproc2|libprocps|yes|no],
		[ask a library of procps for the uptime])],
	[], [with_procps=auto])
procps_missing=
st_procps=
AS_CASE([$with_procps],
	[no], [procps_missing='--with-procps=no'],
	[auto|yes], [
		PKG_CHECK_EXISTS([libproc2], [st_procps=libproc2],
			[PKG_CHECK_EXISTS([libprocps], [st_procps=libprocps],
				[procps_missing='libproc2 and libprocps are missing'])])],
	[libproc2|libprocps], [st_procps=$with_procps],
	[AC_MSG_ERROR([--with-procps takes auto, libproc2, libprocps, yes or no])])
AS_IF([test "x$st_procps" != x], [PKG_CHECK_MODULES([PROCPS], [$st_procps])])
AS_CASE([$st_procps],
	[libproc2], [AC_DEFINE([PROCPS_LIBPROC2], [1], [Whether libproc2 says the uptime.])],
	[libprocps], [AC_DEFINE([PROCPS_LIBPROCPS], [1], [Whether libprocps says the uptime.])])
AC_DEFINE_UNQUOTED([PROCPS_LIBRARY], ["$st_procps"], [What says the uptime; empty: the program.])
ST_PART([procps], [PROCPS], [procps_missing])
])

# ST_BPF_TRY(QUESTION, SOURCE, WHY)
# ---------------------------------
# Asks whether clang compiles SOURCE for BPF, to conftest.bpf.o. If not, runs WHY.
AC_DEFUN([ST_BPF_TRY],
[AC_MSG_CHECKING([$1])
cat >conftest.bpf.c <<'_ST_SOURCE'
$2
_ST_SOURCE
AS_IF([$CLANG $BPF_CFLAGS -target $BPF_TARGET -mcpu=v3 $BPF_CPPFLAGS -c conftest.bpf.c -o conftest.bpf.o \
	>&AS_MESSAGE_LOG_FD 2>&1],
	[AC_MSG_RESULT([yes])],
	[AC_MSG_RESULT([no])
	cat conftest.bpf.c >&AS_MESSAGE_LOG_FD
	$3])
])

# ST_BPF_LACKS(WORDS)
# -------------------
# Adds to bpf_missing.
AC_DEFUN([ST_BPF_LACKS], [bpf_missing="${bpf_missing:+$bpf_missing; }$1"])

# ST_BPF_ABLE
# -----------
# Asks whether clang, the kernel's headers and bpftool can do what the programs in src/bpf ask of
# them, so that make does not fail.
AC_DEFUN([ST_BPF_ABLE],
[ST_BPF_TRY([whether $CLANG compiles for BPF], [[
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
]], [ST_BPF_LACKS([$CLANG does not compile for BPF (config.log says why)])])
AS_IF([test "x$bpf_missing" = x], [
	# Both of LLVM 12: which values an enum of the kernel has, and what was there before.
	ST_BPF_TRY([whether $CLANG has what the programs need], [[
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
struct task_struct {
	int pid;
} __attribute__((preserve_access_index));
enum some { VALUE = 1 };
int total;
int count(const struct task_struct *task)
{
	if (!bpf_core_enum_value_exists(enum some, VALUE) || !bpf_core_field_exists(task->pid))
		return 0;
	return __sync_fetch_and_add(&total, task->pid);
}
]], [ST_BPF_LACKS([clang `$CLANG -dumpversion` found, 12 or later is needed])])
	# The type of map is of 5.11, the helper of 5.15.
	ST_BPF_TRY([whether linux/bpf.h has what the programs need], [[
#include <linux/bpf.h>
int known[] = { BPF_MAP_TYPE_TASK_STORAGE, BPF_FUNC_task_pt_regs };
]], [
		[st_linux=`printf '#include <linux/version.h>\nLINUX_VERSION_CODE\n' |
			$CLANG -E -P $BPF_CPPFLAGS - | sed -n 's/^\([0-9][0-9]*\)$/\1/p'`]
		st_linux=${st_linux:-0}
		ST_BPF_LACKS([headers of Linux $((st_linux >> 16)).$((st_linux >> 8 & 255)) found, ]dnl
[5.15 or later are needed])])])
AS_IF([test "x$bpf_missing" = x], [
	AC_MSG_CHECKING([whether $BPFTOOL makes skeletons])
	# Where it is a script that starts the kernel's own one, there may be none.
	AS_IF([$BPFTOOL gen skeleton conftest.bpf.o name conftest_bpf >/dev/null \
		2>&AS_MESSAGE_LOG_FD],
		[AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		ST_BPF_LACKS([$BPFTOOL makes no skeleton (config.log says why)])])])
rm -f conftest.bpf.c conftest.bpf.o
])

# ST_BPF
# ------
# Looks for what the program in the kernel is made with: a clang that compiles for
# BPF, bpftool, libbpf. --with-bpf=yes insists, no does without, auto takes what is
# there. bpf_missing is what is not.
AC_DEFUN([ST_BPF],
[AC_ARG_WITH([bpf],
	[AS_HELP_STRING([--with-bpf=auto|yes|no],
		[read tasks by a program in the kernel, too (needs clang, bpftool, libbpf)])],
	[], [with_bpf=auto])
bpf_missing=
AS_IF([test "x$with_bpf" = xno], [bpf_missing='--with-bpf=no'], [
	st_sbin=$PATH$PATH_SEPARATOR/usr/sbin$PATH_SEPARATOR/sbin
	PKG_CHECK_MODULES([LIBBPF], [libbpf >= 0.8], [],
		[ST_LACKING([libbpf], [0.8])
		ST_BPF_LACKS([$st_lacking])])
	AC_PATH_PROGS([BPFTOOL], [bpftool], [], [$st_sbin])
	AS_IF([test "x$BPFTOOL" = x], [ST_BPF_LACKS([bpftool is missing])])
	AC_PATH_PROGS([CLANG], [clang])
	AS_IF([test "x$CLANG" = x], [ST_BPF_LACKS([clang is missing])])
	# Headers are those of the compiler's root. For BPF clang does not look where the machine has
	# its asm/ headers.
	st_sysroot=`$CC -print-sysroot 2>/dev/null`
	AS_IF([test "x$st_sysroot" = x/], [st_sysroot=])
	st_multiarch=`$CC -print-multiarch 2>/dev/null`
	BPF_CPPFLAGS="${LIBBPF_CFLAGS}"
	AS_IF([test "x$st_sysroot" != x], [BPF_CPPFLAGS="$BPF_CPPFLAGS --sysroot=$st_sysroot"])
	AS_IF([test "x$st_multiarch" != x && test -d "$st_sysroot/usr/include/$st_multiarch"],
		[BPF_CPPFLAGS="$BPF_CPPFLAGS -idirafter $st_sysroot/usr/include/$st_multiarch"])
	# As make does. Programs in the kernel have no stack protector, which some have clang add.
	BPF_CFLAGS='-O2 -g -fno-stack-protector -Wall -Wextra'
	AS_IF([test "x$enable_werror" = xyes], [BPF_CFLAGS="$BPF_CFLAGS -Werror"])
	# The byte order is that of the machine, not of clang's.
	AC_C_BIGENDIAN([BPF_TARGET=bpfeb], [BPF_TARGET=bpfel])
	AS_IF([test "x$bpf_missing" = x], [ST_BPF_ABLE])])
AC_SUBST([BPF_CFLAGS])
AC_SUBST([BPF_CPPFLAGS])
AC_SUBST([BPF_TARGET])
ST_PART([bpf], [BPF], [bpf_missing])
])

# ST_CC32
# -------
# Whether the compiler makes 32-bit programs for x86, without any library: one test has such a load.
AC_DEFUN([ST_CC32],
[AC_MSG_CHECKING([whether $CC makes 32-bit programs for x86])
st_cc32=no
AS_IF([echo 'void _start(void) { __asm__("int $0x80"); }' >conftest.c &&
	$CC -m32 -O1 -ffreestanding -fno-pie -nostdlib -static -no-pie conftest.c -o conftest.32 \
		>&AS_MESSAGE_LOG_FD 2>&1 && test "x$enable_sanitizers" != xyes],
	[st_cc32=yes])
rm -f conftest.c conftest.32
AC_MSG_RESULT([$st_cc32])
AM_CONDITIONAL([CC32], [test "x$st_cc32" = xyes])
])
