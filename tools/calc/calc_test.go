package calc_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/tools"
	"github.com/heddle-bot/heddle/tools/calc"
	"github.com/heddle-bot/heddle/tools/toolstest"
)

func TestTool(t *testing.T) {
	tool, err := calc.New()
	require.NoError(t, err)
	require.Empty(t, toolstest.Lint([]tools.Tool{tool}))
	toolstest.Run(t, tool, toolstest.Case{Name: "sum", Args: `{"expression":"12*7"}`})

	r, err := tools.NewRegistry(tool)
	require.NoError(t, err)
	checked, args, err := r.Check("calc", []byte(`{"expression": 12}`))
	require.NoError(t, err)
	got, err := tools.Run(t.Context(), checked, tools.Call{Args: args})
	require.NoError(t, err)
	require.Equal(t, tools.Result{Text: "12", Note: "12"}, got)
}

func TestNoHalfOfASecret(t *testing.T) {
	tool, err := calc.New()
	require.NoError(t, err)
	number, name := strings.Repeat("1234567890", 7), strings.Repeat("abcdefghij", 5)
	mask := strings.NewReplacer(number, "[redacted]", name, "[redacted]").Replace
	run := func(expression string) (tools.Result, error) {
		args := fmt.Appendf(nil, `{"expression":%q}`, expression)
		return tool.Run(t.Context(), tools.Call{Args: args, Mask: mask})
	}
	got, err := run(number[:69] + "1 - 1")
	require.NoError(t, err)
	require.Equal(t, "[redacted]", got.Note)
	_, err = run(name + "(1)")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "abcdefgh")
}

func TestEval(t *testing.T) {
	for _, test := range []struct{ expression, want string }{
		{"12 * 7", "84"},
		{"1 + 2 * 3 ^ 2", "19"},
		{"(1 + 2) * 3", "9"},
		{"2 ^ 3 ^ 2", "512"},
		{"2 ** 10", "1024"},
		{"-2 ^ 2", "-4"},
		{"2 ^ -2", "0.25"},
		{"--1", "1"},
		{"10 - 4 - 3", "3"},
		{"0.1 + 0.2", "0.3"},
		{"1.1 * 1.1", "1.21"},
		{"1 / 8", "0.125"},
		{"1 / 3", "0.333333333333333333333333333333 (rounded)"},
		{"1 / 3 * 3", "1"},
		{"7 % 3", "1"},
		{"-7 % 3", "-1"},
		{"5.5 % 2", "1.5"},
		{"2 ^ 64", "18446744073709551616"},
		{"9223372036854775807 + 1", "9223372036854775808"},
		{"12345678901234567890 * 2", "24691357802469135780"},
		{"123456789012345678901234567890.5 * 2", "246913578024691357802469135781"},
		{"1_000 * 3", "3000"},
		{"1.5e3", "1500"},
		{"1e-3", "0.001"},
		{"0x10 + 1", "17"},
		{"6 × 7 ÷ 2 − 1", "20"},
		{"(-1) ^ 1000001", "-1"},
		{"1 ^ 99999999999999999999", "1"},
		{"0 ^ 99999999999999999999", "0"},
		{"0 ^ 0", "1"},
		{"sqrt(16)", "4"},
		{"sqrt(2.25)", "1.5"},
		{"sqrt(2)", "1.4142135623731 (rounded)"},
		{"4 ^ 0.5", "2 (rounded)"},
		{"round(2.5)", "3"},
		{"round(-2.5)", "-3"},
		{"round(100 / 7, 2)", "14.29"},
		{"floor(-1.5) + ceil(-1.5)", "-3"},
		{"abs(-3) + max(1, 2.5, 2) + min(4, 3)", "8.5"},
		{"ln(e)", "1 (rounded)"},
		{"log10(1000) + log2(8)", "6 (rounded)"},
		{"cos(pi)", "-1 (rounded)"},
		{"exp(0)", "1 (rounded)"},
	} {
		got, err := calc.Eval(test.expression)
		require.NoError(t, err, test.expression)
		require.Equal(t, test.want, got, test.expression)
	}
}

func TestEvalSaysWhatIsWrong(t *testing.T) {
	for _, test := range []struct{ expression, want string }{
		{"1 / 0", "division by zero"},
		{"1 % (2 - 2)", "division by zero"},
		{"0 ^ -1", "division by zero"},
		{"sqrt(-1)", "sqrt: a negative number has no root"},
		{"(-8) ^ 0.5", "a negative number has no power that is not whole"},
		{"ln(0)", "ln: the result is too large"},
		{"ln(-1)", "ln: there is no such number"},
		{"exp(1e9)", "exp: the result is too large"},
		{"9 ^ 9 ^ 9", "the result has more digits than this tool calculates with (about 4900)"},
		{"1e9999", "is no expression"},
		{"1e-999999", "more digits"},
		{"1e-99999999999999999999", "is not a number"},
		{"2 ^ 10000 * 2 ^ 10000", "more digits"},
		{"1 +", "this is no expression: unexpected token EOF at character 3"},
		{"(1", "this is no expression"},
		{"", "this is no expression"},
		{"15% of 80", "this is no expression"},
		{"1,000 + 1", "this is no expression"},
		{"x + 1", `"x" is not known; there are no variables`},
		{"PI", `"PI" is not known, did you mean pi?; there are no variables`},
		{"sqr(4)", `there is no function "sqr", did you mean sqrt?; there are abs, ceil, cos, e, exp`},
		{"round(1, 2, 3)", "round takes 1 to 2 arguments, not 3"},
		{"sqrt()", "sqrt takes 1 argument, not 0"},
		{"round(1, 99)", "round: the digits after the point must be a whole number from 0 to 30"},
		{"1 < 2", `there is no operator "<" here`},
		{"not 1", `there is no operator "not" here`},
		{`"a"`, "only numbers"},
		{"[1, 2]", "only numbers"},
		{"true ? 1 : 2", "only numbers"},
		{"$env", "is not known"},
		{"now()", "there is no function"},
		{"map([1], # + 1)", `there is no function "map"`},
		{"1；2", "there is a '；' after \"1\""},
		{"1\x002", "there is a '\\x00'"},
		{strings.Repeat("1+", 600) + "1", "longer than 1000 characters"},
	} {
		_, err := calc.Eval(test.expression)
		require.ErrorContains(t, err, test.want, test.expression)
	}
}

// Whole numbers are calculated as math/big does it.
func TestEvalIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "a"))
		b := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "b"))
		for operator, do := range map[string]func(z, x, y *big.Int) *big.Int{"+": (*big.Int).Add, "-": (*big.Int).Sub, "*": (*big.Int).Mul} {
			got, err := calc.Eval(fmt.Sprintf("%s %s %s", a, operator, b))
			require.NoError(t, err)
			require.Equal(t, do(new(big.Int), a, b).String(), got)
		}
		if b.Sign() != 0 {
			got, err := calc.Eval(fmt.Sprintf("(%s * %s) / %s", a, b, b))
			require.NoError(t, err)
			require.Equal(t, a.String(), got)
		}
	})
}

// Whatever a model writes, there is an answer of bounded size, and always the same one.
func FuzzEval(f *testing.F) {
	for _, seed := range []string{
		"1+1", "2^2^2^2", "((((1))))", "sqrt(2)^3", "round(1/3, 5)", "max(1,2,3)", "1e308*10", "-7%3", "0x1F", "let x = 1; x", "1..3",
		"{a: 1}.a", "filter([1], # > 0)", "1_0.5e2", "1 ?? 2", "e^pi", "9007199254740993", "get(1, 2)", "\"a\" + 1", "1e16384",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		got, err := calc.Eval(expression)
		again, _ := calc.Eval(expression)
		require.Equal(t, got, again)
		if err != nil {
			require.NotEmpty(t, err.Error())
			require.Less(t, len(err.Error()), 3000)
			return
		}
		require.NotEmpty(t, got)
		require.Less(t, len(got), 40_000)
	})
}

func BenchmarkEval(b *testing.B) {
	for b.Loop() {
		if _, err := calc.Eval("round((17.5 + 3) * 2^10 / 7, 2)"); err != nil {
			b.Fatal(err)
		}
	}
}
